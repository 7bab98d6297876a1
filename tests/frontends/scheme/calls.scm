(list (eq? 'a 'a) (eqv? 1.5 1.5) (eqv? "" "") (equal? "a" "a") (eqv? '() '()))
;=> (#t #t #f #t #t)

(list (equal? '(1 (2 #(3))) '(1 (2 #(3)))) (equal? 1 1.0) (eqv? +nan.0 +nan.0))
;=> (#t #f #t)

(let ((a (list 1)) (b (list 1))) (set-cdr! a a) (set-cdr! b b) (equal? a b))
;=> #t

(append '(1) '(2) '(3 4) '())
;=> (1 2 3 4)

(append '(1) 2)
;=> (1 . 2)

(append)
;=> ()

(list (length '(1 2)) (reverse '(1 2 3)) (list-tail '(1 2 3) 1) (list-ref '(1 2 3) 2))
;=> (2 (3 2 1) (2 3) 3)

(list (memq 'c '(a b c d)) (memv 5 '(1)) (member '(1) '((1) 2)) (member 2.0 '(1 2) =))
;=> ((c d) #f ((1) 2) (2))

(list (assq 'b '((a 1) (b 2))) (assoc 2.0 '((1 one) (2 two)) =) (assv 1 '()))
;=> ((b 2) (2 two) #f)

(list (list-copy '(1 2 . 3)) (make-list 2 'x) (list? '(1 . 2)) (list? '(1)))
;=> ((1 2 . 3) (x x) #f #t)

(let ((x (list 1 2))) (set-cdr! (cdr x) x) (list? x))
;=> #f

(let ((x (list 1 2 3))) (list-set! x 1 'b) x)
;=> (1 b 3)

(map + '(1 2 3) '(10 20))
;=> (11 22)

(let ((n 0)) (for-each (lambda (a b) (set! n (+ n (* a b)))) '(1 2) '(3 4)) n)
;=> 11

(vector-map * #(1 2) #(3 4 5))
;=> #(3 8)

(list (apply + 1 2 '(3 4)) (apply list '()))
;=> (10 ())

(call-with-values (lambda () (values 1 2)) +)
;=> 3

(string-map (lambda (a b) (if (char<? a b) a b)) "adc" "bbbz")
;=> "abb"

(let ((v (vector 1 2 3 4 5))) (vector-copy! v 0 v 2) v)
;=> #(3 4 5 4 5)

(let ((v (vector 1 2 3 4 5))) (vector-copy! v 2 v 0 3) v)
;=> #(1 2 1 2 3)

(list (vector-fill! (make-vector 2 0) 1) (vector->list #(1 2 3) 1) (vector-append #(1) #(2)))
;=> (#<unspecified> (2 3) #(1 2))

(list (vector->string #(#\a #\b)) (string->vector "ab") (list->vector '(1)))
;=> ("ab" #(#\a #\b) #(1))

(let ((s (string-copy "hello"))) (string-copy! s 1 "abc" 1) (string-fill! s #\z 4) s)
;=> "hbclz"

(list (string<? "a" "b" "c") (string-ci=? "Ab" "aB") (string->list "abc" 1 2))
;=> (#t #t (#\b))

(list (char-upcase #\ß) (char->integer #\A) (digit-value #\7) (digit-value #\a) (char-foldcase #\A))
;=> (#\ß 65 7 #f #\a)

(list (symbol->string 'a) (string->symbol "B c") (symbol=? 'a 'a 'a))
;=> ("a" |B c| #t)

(bytevector-append #u8(1 2) (bytevector 3) (make-bytevector 1 9))
;=> #u8(1 2 3 9)

(let ((b (bytevector 1 2 3))) (bytevector-u8-set! b 1 9) (bytevector-copy! b 0 #u8(7)) b)
;=> #u8(7 9 3)

(list (utf8->string #u8(206 187)) (string->utf8 "λ"))
;=> ("λ" #u8(206 187))

(list (exact->inexact 1/3) (exact 2.5) (inexact 2) (exact 3.0))
;=> (0.3333333333333333 5/2 2.0 3)

(list (number->string 10 2) (number->string 1/3 3) (string->number "1e2") (string->number "zz") (string->number "zz" 16))
;=> ("1010" "1/10" 100.0 #f #f)

(call-with-values (lambda () (floor/ -5 2)) list)
;=> (-3 1)

(call-with-values (lambda () (truncate/ -5 2)) list)
;=> (-2 -1)

(list (gcd) (lcm) (+) (*) (max 1/2 0.25) (min 1 2))
;=> (0 1 0 1 0.5 1)

(list (round 0.5) (round 1.5) (round -2.5) (round 7) (truncate -2.7) (floor -3.5))
;=> (0.0 2.0 -2.0 7 -2.0 -4.0)

(list (numerator 6/4) (denominator 6/4) (rationalize 3/10 1/10) (rationalize .3 1/10))
;=> (3 2 1/3 0.3333333333333333)

(list (sqrt -4) (sqrt 1/4) (expt 0 0) (expt 2 -1) (exp 0) (log 1) (atan 1 0) (expt 2. 3))
;=> (0.0+2.0i 1/2 1 1/2 1 0 1.5707963267948966 8.0)

(list (/ 1.0 0.0) (/ -1 0.0) (nan? (/ 0.0 0.0)))
;=> (+inf.0 -inf.0 #t)

(guard (e (#t 'division-by-zero)) (/ 1 0))
;=> division-by-zero

(list (real-part 1+2i) (imag-part 1+2i) (magnitude 3+4i) (make-rectangular 1 2) (complex? 1))
;=> (1.0 2.0 5.0 1.0+2.0i #t)

(list (boolean=? #t #t) (boolean? '()) (procedure? car) (procedure? (lambda () 1)) (procedure? 'car))
;=> (#t #f #t #t #f)

(let ((p (open-input-string "ab"))) (list (peek-char p) (read-char p) (read-string 5 p) (eof-object? (read-char p))))
;=> (#\a #\a "b" #t)

(let ((p (open-input-bytevector #u8(1 2 3)))) (list (peek-u8 p) (read-u8 p) (read-bytevector 9 p) (eof-object? (read-u8 p))))
;=> (1 1 #u8(2 3) #t)

(let ((p (open-output-bytevector))) (write-u8 1 p) (write-bytevector #u8(2 3 4) p 1) (get-output-bytevector p))
;=> #u8(1 3 4)

(let ((p (open-input-string "x"))) (close-port p) (list (input-port-open? p) (input-port? p) (textual-port? p)))
;=> (#f #t #t)

(call-with-output-string (lambda (p) (write 'a p) (write-string "bcd" p 1) (write-char #\e p) (newline p)))
;=> "acde\n"

(with-output-to-string (lambda () (display "in")))
;=> "in"

(call-with-port (open-input-string "z") read-char)
;=> #\z

(list (eof-object? (eof-object)) (read (open-input-string "")))
;=> (#t #<eof>)

(guard (e ((read-error? e) 'read-error)) (read (open-input-string "(a")))
;=> read-error

(guard (e ((file-error? e) 'file-error)) (open-input-file "no/such/file"))
;=> file-error

(list (sort '(3 1 2) <) (sort (vector 3 1 2) >) (list-sort < '(2 1)))
;=> ((1 2 3) #(3 2 1) (1 2))

(list (fold cons '() '(1 2)) (fold-left list '() '(1 2)) (fold-right cons '() '(1 2)) (reduce + 0 '(1 2 3)))
;=> ((2 1) ((() 1) 2) (1 2) 6)

(list (filter odd? '(1 2 3)) (remove odd? '(1 2 3)) (delete 2 '(1 2 3)) (delete-duplicates '(1 2 1)))
;=> ((1 3) (2) (1 3) (1 2))

(list (find even? '(1 2 3)) (find-tail even? '(1 2 3)) (list-index even? '(1 2)) (any odd? '(2 3)) (every odd? '(1 3)))
;=> (2 (2 3) 1 #t #t)

(list (iota 3) (iota 3 1 2) (list-tabulate 3 -) (take '(1 2 3) 2) (drop '(1 2 3) 2) (last '(1 2)))
;=> ((0 1 2) (1 3 5) (0 -1 -2) (1 2) (3) 2)

(list (append-map list '(1 2)) (filter-map (lambda (x) (and (odd? x) (* x x))) '(1 2 3)) (count odd? '(1 2 3)))
;=> ((1 2) (1 9) 2)

(call-with-values (lambda () (partition odd? '(1 2 3))) list)
;=> ((1 3) (2))

(unfold (lambda (x) (> x 3)) - (lambda (x) (+ x 1)) 1)
;=> (-1 -2 -3)

(let ((t (make-hash-table))) (hash-table-set! t '(1) 'a) (hash-table-update! t '(1) (lambda (x) (list x)) (lambda () 0)) (hash-table-update!/default t 'k (lambda (n) (+ n 1)) 0) (list (hash-table-ref/default t (list 1) #f) (hash-table-ref t 'k) (hash-table-count t)))
;=> ((a) 1 2)

(let ((b (box 1))) (set-box! b 2) (list (box? b) (unbox b)))
;=> (#t 2)

(list (1+ 1) (-1+ 1) (cons* 1 2 '(3)) (string-join '("a" "b") "-"))
;=> (2 0 (1 2 3) "a-b")

(list (cadr '(1 2)) (cddr '(1 2 3)) (caddr '(1 2 3)) (cadddr '(1 2 3 4)))
;=> (2 (3) 3 4)

(list (error-object? 1) (guard (e (#t (error-object-irritants e))) (error "m" 1 2)))
;=> (#f (1 2))

(list (eval '(* 7 3) (environment '(scheme base))) (eval '(let ((x 1)) x)))
;=> (21 1)

(define x 3) (eval '(define y (+ x 1)) (interaction-environment)) (eval 'y)
;=> 4

(guard (e (#t 'no)) (eval '(if) (interaction-environment)))
;=> no

(memq 'r7rs (features))
;=> (r7rs exact-closed ratios full-unicode kleene)

(exact? (current-jiffy))
;=> #t

(define c (list 1 2)) (set-cdr! (cdr c) c) (map (lambda (f) (guard (e ((error-object? e) 'refused)) (f c))) (list reverse length list->vector list-copy (lambda (c) (memq 'x c)) (lambda (c) (assq 'x (list c c))) (lambda (c) (apply + c)) (lambda (c) (append c '(1)))))
;=> (refused refused refused refused refused #f refused refused)

(map (lambda (f) (guard (e ((error-object? e) 'refused)) (f 1000000000000))) (list make-vector make-string make-list make-bytevector iota (lambda (n) (expt 10 n))))
;=> (refused refused refused refused refused refused)
