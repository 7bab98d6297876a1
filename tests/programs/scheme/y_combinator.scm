;; Recursion without names.
(import (scheme base) (scheme write))

(define Y
  (lambda (f)
    ((lambda (x) (x x))
     (lambda (x) (f (lambda args (apply (x x) args)))))))
(write ((Y (lambda (self) (lambda (n) (if (= n 0) 1 (* n (self (- n 1))))))) 10)) (newline)
(write ((Y (lambda (self) (lambda (a b) (if (= b 0) a (self b (remainder a b)))))) 48 36)) (newline)

;; Mutual recursion: a list of procedures that each know all of them.
(define Y*
  (lambda makers
    ((lambda (u) (u u))
     (lambda (self)
       (map (lambda (maker) (lambda args (apply (apply maker (self self)) args))) makers)))))
(define pair
  (Y* (lambda (even? odd?) (lambda (n) (or (= n 0) (odd? (- n 1)))))
      (lambda (even? odd?) (lambda (n) (and (not (= n 0)) (even? (- n 1)))))))
(write (list ((car pair) 10) ((cadr pair) 10))) (newline)
;; Omega would not end; its eta-expanded cousin waits.
(define omega (lambda () ((lambda (x) (x x)) (lambda (x) 'calm))))
(write (omega)) (newline)
;=> 3628800
;=> 12
;=> (#t #f)
;=> calm
