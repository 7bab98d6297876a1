;; Re-entrant continuations: a tree walk that is resumed from several places.
(import (scheme base) (scheme write))

(define (product items)
  (call/cc (lambda (return)
    (let loop ((items items))
      (cond ((null? items) 1)
            ((= 0 (car items)) (return 0))
            (else (* (car items) (loop (cdr items)))))))))
(write (list (product '(1 2 3)) (product '(1 0 x)))) (newline)

;; Keep the continuation of one point and return to it with other values.
(define saved '())
(define (choose-once x) (call/cc (lambda (k) (set! saved (cons k saved)) x)))
(define results '())
(define (experiment)
  (let* ((a (choose-once 1)) (b (choose-once 10)))
    (set! results (cons (+ a b) results))
    (length results)))
(define (drive)
  (let ((n (experiment)))
    (case n
      ((1) ((car saved) 20))    ; again from the second choice
      ((2) ((cadr saved) 2))    ; again from the first, which makes a third continuation
      (else (reverse results)))))
(write (drive)) (newline)

;; Early exit out of nested loops, and a loop made of a continuation alone.
(define (find-pair wanted? as bs)
  (call/cc (lambda (found)
    (for-each (lambda (a) (for-each (lambda (b) (if (wanted? a b) (found (cons a b)))) bs)) as)
    'none)))
(write (find-pair (lambda (a b) (= (+ a b) 7)) '(1 2 3) '(3 4 5))) (newline)
(define (count-to n)
  (let ((i 0))
    (let ((again (call/cc (lambda (k) k))))
      (set! i (+ i 1))
      (if (< i n) (again again) i))))
(write (count-to 5)) (newline)

;; Generators inside out: a list of the partial sums by storing the rest of the work.
(define (each-with-rest items)
  (let loop ((items items) (out '()))
    (if (null? items)
        (reverse out)
        (loop (cdr items) (cons (call/cc (lambda (k) (k (list (car items) (length (cdr items)))))) out)))))
(write (each-with-rest '(a b c))) (newline)
;=> (6 0)
;=> (11 21 12)
;=> (2 . 5)
;=> 5
;=> ((a 2) (b 1) (c 0))
