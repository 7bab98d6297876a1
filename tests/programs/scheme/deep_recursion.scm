;; Recursion that is deep and not in tail position, and loops that are long.
(import (scheme base) (scheme write))

(define (count-up n) (if (= n 0) 0 (+ 1 (count-up (- n 1)))))
(write (count-up 20000)) (newline)
(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(write (length (build 20000))) (newline)
(define (ackermann m n)
  (cond ((= m 0) (+ n 1))
        ((= n 0) (ackermann (- m 1) 1))
        (else (ackermann (- m 1) (ackermann m (- n 1))))))
(write (ackermann 2 9)) (newline)
(define (tak x y z)
  (if (not (< y x)) z (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))
(write (tak 10 6 3)) (newline)
(define (collatz n steps)
  (if (= n 1) steps (collatz (if (even? n) (quotient n 2) (+ 1 (* 3 n))) (+ steps 1))))
(write (map (lambda (n) (collatz n 0)) '(1 7 27))) (newline)
(define (hanoi n from to via move)
  (if (= n 0) 0
      (let* ((a (hanoi (- n 1) from via to move)) (b (begin (move n from to) 1)) (c (hanoi (- n 1) via to from move)))
        (+ a b c))))
(define last-move #f)
(write (hanoi 8 'a 'c 'b (lambda (disc from to) (set! last-move (list disc from to))))) (write last-move) (newline)
;=> 20000
;=> 20000
;=> 21
;=> 4
;=> (0 16 111)
;=> 255(1 b c)
