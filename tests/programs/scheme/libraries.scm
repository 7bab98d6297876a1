;; Libraries in one file: exports, renames, prefixes, a macro that uses a private procedure.
;guile: does not take a rename in an export here
(define-library (example stack)
  (export make-stack push! pop! (rename stack-size size) with-stack)
  (import (scheme base))
  (begin
    (define-record-type stack (wrap items) stack? (items items set-items!))
    (define (make-stack) (wrap '()))
    (define (push! s x) (set-items! s (cons x (items s))))
    (define (pop! s) (let ((x (car (items s)))) (set-items! s (cdr (items s))) x))
    (define (stack-size s) (length (items s)))
    (define-syntax with-stack
      (syntax-rules ()
        ((_ name body ...) (let ((name (make-stack))) body ... (items name)))))))

(define-library (example counter)
  (export tick)
  (import (scheme base))
  (begin
    (define count 0)
    (define (tick) (set! count (+ count 1)) count)))

(import (scheme base) (scheme write)
        (rename (example stack) (push! push))
        (prefix (only (example counter) tick) counter:))

(define items "mine")
(define s (make-stack))
(push s 'a)
(push s 'b)
(write (list (size s) (pop! s) (size s))) (newline)
(write (with-stack t (push t 1) (push t 2) (push t 3))) (newline)
(write items) (newline)
(counter:tick)
(write (list (counter:tick) (counter:tick))) (newline)
;=> (2 b 1)
;=> (3 2 1)
;=> "mine"
;=> (2 3)
