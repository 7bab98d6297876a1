;; Sets, relations and streams of values as predicates and selectors.
(import (scheme base) (scheme write))

(define (singleton x) (lambda (y) (equal? x y)))
(define (union a b) (lambda (x) (or (a x) (b x))))
(define (intersect a b) (lambda (x) (and (a x) (b x))))
(define (complement a) (lambda (x) (not (a x))))
(define (set . items) (let loop ((items items)) (if (null? items) (lambda (x) #f) (union (singleton (car items)) (loop (cdr items))))))
(define (members s universe) (let loop ((u universe)) (cond ((null? u) '()) ((s (car u)) (cons (car u) (loop (cdr u)))) (else (loop (cdr u))))))
(define universe '(1 2 3 4 5 6 7 8))
(define small (set 1 2 3 4))
(write (members (intersect small even?) universe)) (newline)
(write (members (union (complement small) (singleton 2)) universe)) (newline)

;; Functions by cases, extended one point at a time.
(define (empty x) 'undefined)
(define (extend f key value) (lambda (x) (if (equal? x key) value (f x))))
(define f (extend (extend empty 'a 1) 'b 2))
(write (list (f 'a) (f 'b) (f 'c) ((extend f 'a 9) 'a))) (newline)

;; Lenses: a getter and a setter in one procedure, chosen by how it is called.
(define (lens get put) (lambda (object . value) (if (null? value) (get object) (put object (car value)))))
(define car-lens (lens car (lambda (p v) (cons v (cdr p)))))
(define cdr-lens (lens cdr (lambda (p v) (cons (car p) v))))
(define (compose-lens outer inner)
  (lens (lambda (o) (inner (outer o))) (lambda (o v) (outer o (inner (outer o) v)))))
(define (update l object f) (l object (f (l object))))
(define cadr-lens (compose-lens cdr-lens car-lens))
(write (list (cadr-lens '(1 2 3)) (cadr-lens '(1 2 3) 'x) (update cadr-lens '(1 2 3) -))) (newline)
;=> (2 4)
;=> (2 5 6 7 8)
;=> (1 2 undefined 9)
;=> (2 (1 x 3) (1 -2 3))
