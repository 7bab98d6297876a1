;; Programs in continuation-passing style, written by hand.
(import (scheme base) (scheme write))

(define (factorial n k)
  (if (= n 0)
      (k 1)
      (factorial (- n 1) (lambda (v) (k (* n v))))))

(define (fibonacci n k)
  (if (< n 2)
      (k n)
      (fibonacci (- n 1)
                 (lambda (a) (fibonacci (- n 2) (lambda (b) (k (+ a b))))))))

(define (map/k f items k)
  (if (null? items)
      (k '())
      (f (car items)
         (lambda (v) (map/k f (cdr items) (lambda (rest) (k (cons v rest))))))))

;; Two continuations: one for success, one for failure, which takes up where a choice was left.
(define (choose options succeed fail)
  (if (null? options)
      (fail)
      (succeed (car options) (lambda () (choose (cdr options) succeed fail)))))

(define (pythagorean limit k)
  (define range (let loop ((i limit) (acc '())) (if (= i 0) acc (loop (- i 1) (cons i acc)))))
  (choose range
    (lambda (a next-a)
      (choose range
        (lambda (b next-b)
          (choose range
            (lambda (c next-c)
              (if (and (< a b) (= (+ (* a a) (* b b)) (* c c)))
                  (k (list a b c) next-c)
                  (next-c)))
            next-b))
        next-a))
    (lambda () 'no-more)))

(factorial 10 (lambda (v) (display v) (newline)))
(fibonacci 15 (lambda (v) (display v) (newline)))
(map/k (lambda (x k) (k (* x x))) '(1 2 3 4) (lambda (v) (display v) (newline)))
(display (pythagorean 13 (lambda (t next) (display t) (newline) (next))))
(newline)
;=> 3628800
;=> 610
;=> (1 4 9 16)
;=> (3 4 5)
;=> (5 12 13)
;=> (6 8 10)
;=> no-more
