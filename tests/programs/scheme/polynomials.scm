;; Polynomials with coefficients of any ring: the ring is a record of procedures.
(import (scheme base) (scheme write))

(define-record-type ring (make-ring zero one add mul show) ring?
  (zero zero) (one one) (add add) (mul mul) (show show))
(define integers (make-ring 0 1 + * number->string))
(define (modular n)
  (make-ring 0 1 (lambda (a b) (modulo (+ a b) n)) (lambda (a b) (modulo (* a b) n)) number->string))
(define (polynomials r)
  (define (sum a b)
    (cond ((null? a) b) ((null? b) a) (else (cons ((add r) (car a) (car b)) (sum (cdr a) (cdr b))))))
  (define (scale k p) (map (lambda (c) ((mul r) k c)) p))
  (define (product a b) (if (null? a) '() (sum (scale (car a) b) (cons (zero r) (product (cdr a) b)))))
  (define (text p)
    (let loop ((p p) (i 0) (out ""))
      (if (null? p) out
          (loop (cdr p) (+ i 1)
                (string-append out (if (= i 0) "" " + ") "(" ((show r) (car p)) ")x" (number->string i))))))
  (make-ring '() (list (one r)) sum product text))
(define (power r x n) (if (= n 0) (one r) ((mul r) x (power r x (- n 1)))))
(define zx (polynomials integers))
(write ((show zx) (power zx '(1 1) 4))) (newline)
(write ((show (polynomials (modular 2))) (power (polynomials (modular 2)) '(1 1) 4))) (newline)
(define zxy (polynomials zx))
(write ((mul zxy) '((0 1) (1)) '((0 1) (1)))) (newline)
(define (evaluate r p x)
  (let loop ((p p)) (if (null? p) (zero r) ((add r) (car p) ((mul r) x (loop (cdr p)))))))
(write (list (evaluate integers '(1 2 3) 10) (evaluate (modular 7) '(1 2 3) 10))) (newline)
;=> "(1)x0 + (4)x1 + (6)x2 + (4)x3 + (1)x4"
;=> "(1)x0 + (0)x1 + (0)x2 + (0)x3 + (1)x4"
;=> ((0 0 1) (0 2) (1))
;=> (321 6)
