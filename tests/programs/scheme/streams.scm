;; Lazy streams made of promises.
(import (scheme base) (scheme lazy) (scheme write))

(define-syntax stream-cons
  (syntax-rules () ((_ a b) (cons a (delay b)))))
(define (stream-rest s) (force (cdr s)))
(define (stream-take n s)
  (if (or (= n 0) (null? s)) '() (cons (car s) (stream-take (- n 1) (stream-rest s)))))
(define (stream-map f . ss)
  (stream-cons (apply f (map car ss)) (apply stream-map f (map stream-rest ss))))
(define (stream-filter keep? s)
  (if (keep? (car s))
      (stream-cons (car s) (stream-filter keep? (stream-rest s)))
      (stream-filter keep? (stream-rest s))))
(define (from n) (stream-cons n (from (+ n 1))))
(define (sieve s)
  (stream-cons (car s)
    (sieve (stream-filter (lambda (x) (not (= 0 (remainder x (car s))))) (stream-rest s)))))
(define fibs (stream-cons 0 (stream-cons 1 (stream-map + fibs (stream-rest fibs)))))

(write (stream-take 10 (sieve (from 2)))) (newline)
(write (stream-take 12 fibs)) (newline)

;; A promise's body runs once; delay-force chains run in constant space.
(define count 0)
(define p (delay (begin (set! count (+ count 1)) (* count 100))))
(write (list (force p) (force p) count)) (newline)
(define (loop n) (if (= n 0) (delay 'end) (delay-force (loop (- n 1)))))
(write (force (loop 1000))) (newline)
(write (list (promise? p) (force (make-promise 3)))) (newline)
(define r (delay (begin (set! x (+ x 1)) (if (> x 5) x (force r)))))
(define x 0)
(write (force r)) (set! x 10) (write (force r)) (newline)
;=> (2 3 5 7 11 13 17 19 23 29)
;=> (0 1 1 2 3 5 8 13 21 34 55 89)
;=> (100 100 1)
;=> end
;=> (#t 3)
;=> 66
