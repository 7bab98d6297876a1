; Recursion without names.
(define (fix f) ((lambda (x) (x x)) (lambda (x) (f (lambda (n) ((x x) n))))))
(define factorial (fix (lambda (self) (lambda (n) (if (= n 0) 1 (* n (self (- n 1))))))))
(define power (fix (lambda (self) (lambda (n) (if (= n 0) (lambda (b) 1) (lambda (b) (* b ((self (- n 1)) b))))))))
(display (factorial 10))
(newline)
(display ((power 5) 3))
(newline)
