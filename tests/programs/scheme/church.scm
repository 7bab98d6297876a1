;; Church numerals, pairs and lists: data that is nothing but closures.
(import (scheme base) (scheme write))

(define zero (lambda (f) (lambda (x) x)))
(define (succ n) (lambda (f) (lambda (x) (f ((n f) x)))))
(define (add a b) (lambda (f) (lambda (x) ((a f) ((b f) x)))))
(define (mul a b) (lambda (f) (a (b f))))
(define (power a b) (b a))
(define (number n) ((n (lambda (k) (+ k 1))) 0))

(define true (lambda (a) (lambda (b) a)))
(define false (lambda (a) (lambda (b) b)))
(define (pair a b) (lambda (choose) ((choose a) b)))
(define (first p) (p true))
(define (second p) (p false))

;; The predecessor by pairs: count up, one step behind.
(define (pred n)
  (first ((n (lambda (p) (pair (second p) (succ (second p))))) (pair zero zero))))

(define two (succ (succ zero)))
(define three (succ two))
(display (number (add two three))) (newline)
(display (number (mul two three))) (newline)
(display (number (power two three))) (newline)
(display (number (pred three))) (newline)
(display (number (second (pair two three)))) (newline)

;; Lists as right folds.
(define nil (lambda (c n) n))
(define (push x l) (lambda (c n) (c x (l c n))))
(define (from-list items) (if (null? items) nil (push (car items) (from-list (cdr items)))))
(define numbers (from-list '(1 2 3 4)))
(display (numbers + 0)) (newline)
(display (numbers cons '())) (newline)
;=> 5
;=> 6
;=> 8
;=> 2
;=> 3
;=> 10
;=> (1 2 3 4)
