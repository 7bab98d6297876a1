;; Macros with nested ellipses, vectors, tails, and recursion over their arguments.
(import (scheme base) (scheme write))

(define-syntax my-let
  (syntax-rules ()
    ((_ ((name value) ...) body ...) ((lambda (name ...) body ...) value ...))
    ((_ tag ((name value) ...) body ...) ((letrec ((tag (lambda (name ...) body ...))) tag) value ...))))
(write (my-let ((a 1) (b 2)) (+ a b))) (newline)
(write (my-let loop ((i 0) (acc '())) (if (= i 3) acc (loop (+ i 1) (cons i acc))))) (newline)

(define-syntax my-cond
  (syntax-rules (else)
    ((_ (else e ...)) (begin e ...))
    ((_ (test e ...) clause ...) (if test (begin e ...) (my-cond clause ...)))))
(write (map (lambda (n) (my-cond ((< n 0) 'negative) ((= n 0) 'zero) (else 'positive))) '(-1 0 1))) (newline)

(define-syntax let-tables
  (syntax-rules ()
    ((_ ((name (key value) ...) ...) body ...)
     (let ((name (list (cons 'key value) ...)) ...) body ...))))
(write (let-tables ((colours (red 1) (blue 2)) (empty)) (list colours empty))) (newline)

(define-syntax flatten2 (syntax-rules () ((_ ((a ...) ...) ...) '(a ... ... ...))))
(write (flatten2 ((1 2) (3)) () ((4)))) (newline)
(define-syntax vec (syntax-rules () ((_ #(a b ...) ...) (list (cons a (list b ...)) ...))))
(write (vec #(1 2 3) #(4))) (newline)
(define-syntax last-of (syntax-rules () ((_ x ... y) 'y)))
(write (last-of 1 2 3)) (newline)
(define-syntax reverse-args
  (syntax-rules ()
    ((_ "go" (f done ...)) (f done ...))
    ((_ "go" (f done ...) x rest ...) (reverse-args "go" (f x done ...) rest ...))
    ((_ f x ...) (reverse-args "go" (f) x ...))))
(write (reverse-args list 1 2 3)) (newline)
(define-syntax for
  (syntax-rules (in from to)
    ((_ x in items body ...) (for-each (lambda (x) body ...) items))
    ((_ x from a to b body ...) (do ((x a (+ x 1))) ((> x b)) body ...))))
(for x in '(a b) (write x))
(for i from 1 to 3 (for j from i to 3 (display " ") (write (* i j))))
(newline)
;=> 3
;=> (2 1 0)
;=> (negative zero positive)
;=> (((red . 1) (blue . 2)) ())
;=> (1 2 3 4)
;=> ((1 2 3) (4))
;=> 3
;=> (3 2 1)
;=> ab 1 2 3 4 6 9
