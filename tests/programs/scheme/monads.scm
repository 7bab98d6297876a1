;; Monads as records of two procedures: maybe, list, state and writer.
(import (scheme base) (scheme write))

(define-record-type monad (make-monad unit bind) monad? (unit unit) (bind bind))
(define-syntax run-in
  (syntax-rules (<-)
    ((_ m e) e)
    ((_ m (x <- e) rest ...) ((bind m) e (lambda (x) (run-in m rest ...))))
    ((_ m e rest ...) ((bind m) e (lambda (ignored) (run-in m rest ...))))))

(define maybe (make-monad list (lambda (v f) (if (null? v) '() (f (car v))))))
(define (safe-div a b) (if (= b 0) '() (list (/ a b))))
(write (run-in maybe (x <- (safe-div 100 5)) (y <- (safe-div x 4)) ((unit maybe) (+ x y)))) (newline)
(write (run-in maybe (x <- (safe-div 100 0)) (y <- (safe-div x 4)) ((unit maybe) (+ x y)))) (newline)

(define many (make-monad list (lambda (v f) (apply append (map f v)))))
(write (run-in many (x <- '(1 2 3)) (y <- '(a b)) ((unit many) (cons x y)))) (newline)

(define state
  (make-monad (lambda (v) (lambda (s) (cons v s)))
              (lambda (m f) (lambda (s) (let ((r (m s))) ((f (car r)) (cdr r)))))))
(define get (lambda (s) (cons s s)))
(define (put s) (lambda (_) (cons 'ok s)))
(define fresh (run-in state (n <- get) (put (+ n 1)) ((unit state) n)))
(define (label tree)
  (if (pair? tree)
      (run-in state (l <- (label (car tree))) (r <- (label (cdr tree))) ((unit state) (cons l r)))
      (run-in state (n <- fresh) ((unit state) (list tree n)))))
(write (car ((label '((a . b) . c)) 0))) (newline)

(define writer
  (make-monad (lambda (v) (cons v '()))
              (lambda (m f) (let ((r (f (car m)))) (cons (car r) (append (cdr m) (cdr r)))))))
(define (tell x) (cons #f (list x)))
(define (fact n)
  (if (= n 0)
      (run-in writer (tell 'base) ((unit writer) 1))
      (run-in writer (tell n) (r <- (fact (- n 1))) ((unit writer) (* n r)))))
(write (fact 4)) (newline)
;=> (25)
;=> ()
;=> ((1 . a) (1 . b) (2 . a) (2 . b) (3 . a) (3 . b))
;=> (((a 0) b 1) c 2)
;=> (24 4 3 2 1 base)
