;; A program without imports, as R5RS had them.
(define (compose f g) (lambda (x) (f (g x))))
(define table (list (cons 'double (lambda (x) (* 2 x))) (cons 'inc (lambda (x) (+ x 1)))))
(define (get name) (cdr (assq name table)))
(define-syntax unless2
  (syntax-rules () ((unless2 test body ...) (if test #f (begin body ...)))))
(let loop ((i 0))
  (if (< i 3)
      (begin
        (display ((compose (get 'double) (get 'inc)) i))
        (newline)
        (loop (+ i 1)))))
(display (unless2 (= 1 2) 'a 'b)) (newline)
(define x 10)
(define (show . args) (for-each display args) (newline))
(show "x is " x " and " 'y " is " (call-with-current-continuation (lambda (k) (* 5 (k 4)))))
(show (let* ((p (delay (begin (set! x (+ x 1)) x))) (a (force p))) (list a (force p))))
(show (do ((vec (make-vector 5)) (i 0 (+ i 1))) ((= i 5) vec) (vector-set! vec i (* i i))))
(show (exact->inexact 1/4) " " (inexact->exact 0.5))
(show (eval '(+ 1 2) (interaction-environment)))
;=> 2
;=> 4
;=> 6
;=> b
;=> x is 10 and y is 4
;=> (11 11)
;=> #(0 1 4 9 16)
;=> 0.25 1/2
;=> 3
