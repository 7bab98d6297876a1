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

(import (scheme base) (scheme char) (srfi 13)) (list (string-index "hello" #\l) (string-index-right "hello" #\l) (string-skip "  x" #\space) (string-contains "banana" "nan") (string-count "banana" #\a) (string-prefix? "ba" "banana") (string-suffix? "nan" "banana"))
;=> (2 3 2 2 3 #t #f)

(import (scheme base) (scheme char) (srfi 13)) (list (string-pad "42" 5) (string-pad "12345" 3) (string-pad-right "42" 5 #\.) (string-trim "  a ") (string-trim-right "  a ") (string-trim-both "xxaxx" #\x) (string-take "abc" 2) (string-drop-right "abc" 2))
;=> ("   42" "345" "42..." "a " "  a" "a" "ab" "a")

(import (scheme base) (scheme char) (srfi 13)) (list (string-join '("a" "b")) (string-join '("a" "b") ":" 'suffix) (string-join '() ":") (string-tokenize "one two  three") (string-titlecase "hello wORLD") (string-reverse "abc") (string-concatenate-reverse '("b" "a") "cd" 1) (xsubstring "abcdef" -1 3))
;=> ("a b" "a:b:" "" ("one" "two" "three") "Hello World" "cba" "abc" "fabc")

(import (scheme base) (scheme char) (srfi 13)) (list (string-map char-upcase "abc" 1) (string-fold cons '() "abc") (string-fold-right cons '() "abc") (string-unfold null? car cdr '(#\a #\b) "<" (lambda (x) ">")) (string-every char-alphabetic? "ab") (string-any char-numeric? "ab1") (string-filter char-alphabetic? "a1b2") (string-delete #\a "banana") (string-replace "abcdef" "XY" 1 3))
;=> ("BC" (#\c #\b #\a) (#\a #\b #\c) "<ab>" #t #t "ab" "bnn" "aXYdef")

(import (scheme base) (scheme char) (srfi 13)) (let ((s (string-copy "abcdef"))) (string-upcase! s 1 3) (string-reverse! s 3) (list s (string< "ab" "abc") (string-ci= "AB" "ab") (string<> "a" "a") (string-compare "abcd" "abxy" list vector list) (string-prefix-length "abcd" "abxy") (string-suffix-length "cart" "part")))
;=> ("aBCfed" #t #t #f (2) 2 3)

(import (scheme base) (scheme char) (srfi 130)) (let ((s "hello world")) (list (string-index s char-whitespace?) (string-index s char-numeric?) (string-index-right s char-whitespace?) (string-index-right s char-numeric?) (string-skip-right "ab  " char-whitespace?) (substring/cursors s (string-cursor-next s (string-index s char-whitespace?)) (string-cursor-end s)) (string-contains-right "banana" "an") (string-contains "banana" "x")))
;=> (5 11 6 0 2 "world" 3 #f)

(import (scheme base) (scheme char) (srfi 130)) (list (string-split "a:b::c" ":") (string-split ":a:b" ":" 'prefix) (string-split "a:b:" ":" 'suffix) (string-split "" ":") (string-split "a:b:c" ":" 'infix 1) (string-split "abc" "") (string-replicate "ab" 0 5) (string-remove char-numeric? "a1b2") (let ((seen '())) (string-for-each-cursor (lambda (c) (set! seen (cons c seen))) "abc" 1) seen))
;=> (("a" "b" "" "c") ("a" "b") ("a" "b") () ("a" "b:c") ("a" "b" "c") "ababa" "ab" (2 1))

(import (scheme base) (srfi 1) (srfi 113) (srfi 128) (srfi 132)) (define c (make-default-comparator)) (define (in-order s) (list-sort < (set->list s))) (let ((a (set c 1 2 3 2)) (b (set c 3 4))) (list (set-size a) (in-order (set-union a b)) (in-order (set-intersection a b)) (in-order (set-difference a b)) (in-order (set-xor a b)) (set-contains? a 2) (set<? (set c 1) a) (set=? a (list->set c '(3 2 1))) (in-order (set-adjoin a 9)) (set-size a)))
;=> (3 (1 2 3 4) (3) (1 2) (1 2 4) #t #t #t (1 2 3 9) 3)

(import (scheme base) (srfi 113) (srfi 128) (srfi 132)) (define c (make-default-comparator)) (let ((b (bag c 'a 'b 'a))) (bag-increment! b 'a 2) (list (bag-size b) (bag-unique-size b) (bag-element-count b 'a) (bag-element-count (bag-delete b 'a 'b) 'a) (bag-element-count (bag-sum b b) 'a) (bag-element-count (bag-product 3 b) 'b) (set-size (bag->set b)) (bag-fold-unique (lambda (x n total) (+ n total)) 0 b) (bag-contains? (bag-difference b (bag c 'b)) 'b)))
;=> (5 2 4 3 8 3 2 5 #f)

(import (scheme base) (scheme set) (scheme comparator)) (define c (make-default-comparator)) (let ((s (set c 1 2))) (call-with-values (lambda () (set-search! s 5 (lambda (insert ignore) (insert 'new)) (lambda (x update remove) (remove 'old)))) (lambda (s r) (list r (set-size s) (set-find even? s (lambda () 'none)) (set-fold + 0 s) (set-any? even? s) (set-every? even? s) (set-count odd? s) (set-member s 9 'none) (set-size (set-map c (lambda (x) 0) s)) (set-size (set-filter even? s)) (set? s) (bag? s) (set-size (set-unfold c (lambda (n) (= n 4)) (lambda (n) n) (lambda (n) (+ n 1)) 0))))))
;=> (new 3 2 8 #t #f 2 none 1 1 #t #f 4)
