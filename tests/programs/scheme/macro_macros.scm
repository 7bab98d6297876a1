;; Macros that make macros, and what hygiene must keep apart.
(import (scheme base) (scheme write))

(define-syntax define-getter-macro
  (syntax-rules ()
    ((_ name value)
     (define-syntax name (syntax-rules () ((_) value))))))
(define secret 42)
(define-getter-macro get-secret secret)
(write (let ((secret 'shadow)) (get-secret))) (newline)

;; A macro that defines a macro with ellipses of its own.
(define-syntax define-nary
  (syntax-rules ()
    ((_ name f)
     (define-syntax name
       (syntax-rules () ((_ arg (... ...)) (f arg (... ...))))))))
(define-nary sum +)
(define-nary collect list)
(write (list (sum) (sum 1) (sum 1 2 3) (collect 'a 'b))) (newline)

;; The same by an ellipsis of another name.
(define-syntax define-nary2
  (syntax-rules ::: ()
    ((_ (name f) :::)
     (begin (define-syntax name (syntax-rules () ((_ x ...) (f x ...)))) :::))))
(define-nary2 (product *) (biggest max))
(write (list (product 2 3 4) (biggest 3 9 2))) (newline)

(define-syntax swap!
  (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
(define tmp 1)
(define other 2)
(swap! tmp other)
(write (list tmp other)) (newline)

(define-syntax my-or
  (syntax-rules ()
    ((_) #f)
    ((_ e) e)
    ((_ e rest ...) (let ((t e)) (if t t (my-or rest ...))))))
(write (let ((t 5) (if list)) (my-or #f t))) (newline)

(define-syntax while
  (syntax-rules ()
    ((_ test body ...) (let loop () (when test body ... (loop))))))
(write (let ((i 0) (loop '())) (while (< i 3) (set! loop (cons i loop)) (set! i (+ i 1))) loop))
(newline)

(define-syntax my-let*
  (syntax-rules ()
    ((_ () body ...) (let () body ...))
    ((_ ((name value) more ...) body ...)
     (let ((name value)) (my-let* (more ...) body ...)))))
(write (my-let* ((a 1) (b (+ a 1)) (c (* b 2))) (list a b c))) (newline)

;; Literals are matched by meaning, not by spelling.
(define-syntax arrow
  (syntax-rules (=>) ((_ a => b) (cons a b)) ((_ a b c) (list a b c))))
(write (arrow 1 => 2)) (newline)
(write (let ((=> 0)) (arrow 1 => 2))) (newline)
;=> 42
;=> (0 1 6 (a b))
;=> (24 9)
;=> (2 1)
;=> 5
;=> (2 1 0)
;=> (1 2 4)
;=> (1 . 2)
;=> (1 0 2)
