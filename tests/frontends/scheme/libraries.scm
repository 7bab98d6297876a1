(import (scheme base) (srfi 1)) (list (take-while even? '(2 4 5 6)) (lset-union eq? '(a b) '(b c)) (fifth '(1 2 3 4 5)) (reduce-right + 0 '(1 2 3)) (proper-list? '(1 . #f)) (circular-list? (circular-list 1 2)))
;=> ((2 4) (c a b) 5 6 #f #t)

(import (scheme base) (scheme list)) (call-with-values (lambda () (span even? '(2 4 5 6))) list)
;=> ((2 4) (5 6))

(define (f x) (take-while odd? x)) (list (f '(1 2)) (alist-delete 'a '((a . 1) (b . 2))))
;=> ((1) ((b . 2)))

(define (g) (take-while 1)) (define (take-while n) (list n)) (g)
;=> (1)

(import (scheme base) (srfi 26)) (list ((cut list 1 <> 3) 2) ((cut list <> 2 <...>) 1 3 4) ((cute + 1 <>) 2) ((cut <> 5) list))
;=> ((1 2 3) (1 2 3 4) 3 (5))

(let ((n 0)) (let ((f (cute list (begin (set! n (+ n 1)) n) <>))) (f 1) (f 2) n))
;=> 1

(import (scheme base) (srfi 95)) (list (sort '(3 1 2) <) (sort '((1 b) (0 a)) < car) (sorted? '(1 2 3) <) (merge '(1 3) '(2) <))
;=> ((1 2 3) ((0 a) (1 b)) #t (1 2 3))

(import (scheme base) (scheme sort)) (list (list-sort < '(2 1)) (vector-sort < #(3 1 2)) (list-delete-neighbor-dups = '(1 1 2)) (vector-find-median < #(1 5 3) 0))
;=> ((1 2) #(1 2 3) (1 2) 3)

(import (scheme base) (srfi 128)) (let ((c (make-list-comparator (make-default-comparator)))) (list (=? c '(1 2) '(1 2)) (<? c '(1) '(1 2)) (= (comparator-hash c '(1 "a")) (comparator-hash c (list 1 "a"))) (comparator-if<=> 1 2 'less 'equal 'greater)))
;=> (#t #t #t less)

(import (scheme base) (scheme hash-table) (scheme comparator)) (let ((t (hash-table (make-default-comparator) 'a 1 'b 2))) (hash-table-set! t 'c 3 'd 4) (hash-table-delete! t 'a 'x) (list (hash-table-size t) (hash-table-ref t 'c) (hash-table-count (lambda (k v) (even? v)) t) (hash-table-find (lambda (k v) (and (= v 3) k)) t) (hash-table-intern! t 'e (lambda () 9)) (hash-table-empty? t)))
;=> (3 3 2 c 9 #f)

(let ((x 1)) (define (get) x) (list (fluid-let ((x 2)) (get)) (get) (call/cc (lambda (k) (fluid-let ((x 3)) (k (get))))) x))
;=> (2 1 3 1)

(define (f a #!optional b #!rest c) (list a b c)) (list (cdr (f 1 2 3 4)) (car (f 1)) (cddr (f 1 2)))
;=> ((2 (3 4)) 1 (()))

(let ((h (lambda (#!optional x) (if (eof-object? x) 'end 'other)))) (list (h #!eof) (h 1)))
;=> (end other)
