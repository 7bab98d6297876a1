;; The game of life on a vector of vectors, and on a predicate.
(import (scheme base) (scheme write))

(define (make-grid n alive?)
  (let ((grid (make-vector n)))
    (do ((i 0 (+ i 1))) ((= i n) grid)
      (vector-set! grid i (make-vector n #f))
      (do ((j 0 (+ j 1))) ((= j n))
        (vector-set! (vector-ref grid i) j (alive? i j))))))
(define (cell grid i j)
  (let ((n (vector-length grid)))
    (vector-ref (vector-ref grid (modulo i n)) (modulo j n))))
(define (neighbours grid i j)
  (let ((count 0))
    (for-each
      (lambda (d) (if (cell grid (+ i (car d)) (+ j (cdr d))) (set! count (+ count 1))))
      '((-1 . -1) (-1 . 0) (-1 . 1) (0 . -1) (0 . 1) (1 . -1) (1 . 0) (1 . 1)))
    count))
(define (next grid)
  (make-grid (vector-length grid)
    (lambda (i j)
      (case (neighbours grid i j) ((3) #t) ((2) (cell grid i j)) (else #f)))))
(define (show grid)
  (vector-for-each
    (lambda (row) (vector-for-each (lambda (c) (display (if c "#" "."))) row) (newline))
    grid))
(define glider (make-grid 6 (lambda (i j) (and (member (cons i j) '((0 . 1) (1 . 2) (2 . 0) (2 . 1) (2 . 2))) #t))))
(define (iterate f n x) (if (= n 0) x (iterate f (- n 1) (f x))))
(show glider)
(display "after four steps") (newline)
(show (iterate next 4 glider))
;=> .#....
;=> ..#...
;=> ###...
;=> ......
;=> ......
;=> ......
;=> after four steps
;=> ......
;=> ..#...
;=> ...#..
;=> .###..
;=> ......
;=> ......
