;; Parameters: dynamic binding that calls and continuations respect.
(import (scheme base) (scheme write))

(define indent (make-parameter 0))
(define (say . parts)
  (display (make-string (indent) #\space))
  (for-each display parts)
  (newline))
(define (nested n)
  (say "level " n)
  (if (< n 2) (parameterize ((indent (+ 2 (indent)))) (nested (+ n 1))))
  (say "back " n))
(nested 0)

(define radix (make-parameter 10 (lambda (x) (if (and (integer? x) (<= 2 x 16)) x (error "bad radix" x)))))
(define (show n) (number->string n (radix)))
(write (list (show 12) (parameterize ((radix 2)) (show 12)) (show 12))) (newline)
(write (guard (e (#t (error-object-message e))) (parameterize ((radix 100)) (show 1)))) (newline)

;; A procedure as a parameter's value, and leaving by a continuation.
(define transform (make-parameter (lambda (x) x)))
(define (go x) ((transform) x))
(write (list (go 3)
             (parameterize ((transform (lambda (x) (* x x)))) (go 3))
             (call/cc (lambda (k) (parameterize ((transform -)) (k (go 3)))))
             (go 3))) (newline)
(define p (make-parameter 1))
(define q (make-parameter 2))
(write (parameterize ((p (q)) (q (p))) (list (p) (q)))) (newline)
;=> level 0
;=>   level 1
;=>     level 2
;=>     back 2
;=>   back 1
;=> back 0
;=> ("12" "1100" "12")
;=> "bad radix"
;=> (3 9 -3 3)
;=> (2 1)
