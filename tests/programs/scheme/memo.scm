;; Memo tables, functions that rewrite themselves, and composition of many procedures.
(import (scheme base) (scheme write))

(define (memoize f)
  (let ((table '()))
    (lambda args
      (let ((known (assoc args table)))
        (if known
            (cdr known)
            (let ((result (apply f args)))
              (set! table (cons (cons args result) table))
              result))))))
(define calls 0)
(define fib
  (memoize (lambda (n) (set! calls (+ calls 1)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))))
(write (list (fib 30) calls)) (newline)

(define (compose . fs)
  (if (null? fs)
      (lambda (x) x)
      (let ((first (car fs)) (rest (apply compose (cdr fs)))) (lambda (x) (first (rest x))))))
(define (repeat f n) (apply compose (let loop ((n n)) (if (= n 0) '() (cons f (loop (- n 1)))))))
(write (list ((compose) 5) ((compose (lambda (x) (* x 2)) (lambda (x) (+ x 1))) 5)
             ((repeat (lambda (x) (* 2 x)) 10) 1))) (newline)

(define setup
  (lambda () (set! setup (lambda () 'already)) 'first-time))
(write (list (setup) (setup) (setup))) (newline)
(define (curry f . args) (lambda more (apply f (append args more))))
(write ((curry + 1 2) 3 4)) (newline)
(define (flip f) (lambda (a b) (f b a)))
(write ((flip -) 1 10)) (newline)
;=> (832040 31)
;=> (5 12 1024)
;=> (first-time already already)
;=> 10
;=> 9
