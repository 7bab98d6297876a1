;; A pattern-matching macro, by macros that call each other.
(import (scheme base) (scheme write))

(define-syntax match
  (syntax-rules (else)
    ((_ e clause ...) (let ((v e)) (match-clauses v clause ...)))))
(define-syntax match-clauses
  (syntax-rules (else)
    ((_ v) (error "no match" v))
    ((_ v (else body ...)) (let () body ...))
    ((_ v (pattern body ...) rest ...)
     (let ((fail (lambda () (match-clauses v rest ...))))
       (match-one v pattern (let () body ...) (fail))))))
(define-syntax match-one
  (syntax-rules (quote ? _)
    ((_ v (quote datum) yes no) (if (equal? v 'datum) yes no))
    ((_ v (? test name) yes no) (if (test v) (let ((name v)) yes) no))
    ((_ v () yes no) (if (null? v) yes no))
    ((_ v (first . rest) yes no)
     (if (pair? v)
         (let ((a (car v)) (d (cdr v)))
           (match-one a first (match-one d rest yes no) no))
         no))
    ((_ v name yes no) (let ((name v)) yes))))

(define (simplify e)
  (match e
    (('+ (? number? a) (? number? b)) (+ a b))
    (('+ 'zero x) (simplify x))
    (('* 'one x) (simplify x))
    (('* 'zero x) 'zero)
    ((op a b)
     (let ((a2 (simplify a)) (b2 (simplify b)))
       (if (and (equal? a a2) (equal? b b2)) e (simplify (list op a2 b2)))))
    (else e)))
(write (map simplify '((+ 1 2) (+ zero x) (* one (+ zero y)) (+ (* zero a) (* one b)) (f 1 2) z))) (newline)
(write (match '(1 2 3) ((a . rest) (list a rest)))) (newline)
(write (guard (e (#t (error-object-message e))) (match 5 ((a) a)))) (newline)
;=> (3 x y b (f 1 2) z)
;=> (1 (2 3))
;=> "no match"
