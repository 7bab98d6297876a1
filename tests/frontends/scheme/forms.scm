'(a . b)
;=> (a . b)

((lambda (a b . c) (list a b c)) 1 2 3 4)
;=> (1 2 (3 4))

((lambda a a) 1 2)
;=> (1 2)

((lambda a a))
;=> ()

(if '() 1 2)
;=> 1

(if #f 1)
;=> #<unspecified>

(define x 1) (set! x 2) x
;=> 2

(begin 1 2 3)
;=> 3

(let ((x 1)) (begin (set! x 5) (+ x 1)))
;=> 6

(cond ((> 1 2) 'a) ((assv 'b '((a 1) (b 2))) => cadr) (else 'c))
;=> 2

(cond (#f 1) ('only-a-test))
;=> only-a-test

(cond (#f 1))
;=> #<unspecified>

(cond (#t 1 2 3))
;=> 3

(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) 'composite))
;=> composite

(case 'x ((a) 1) (else => (lambda (y) (list y))))
;=> (x)

(case "a" (("a") 1) (else 2))
;=> 2

(case '() ((()) 'nil) (else 'other))
;=> nil

(and 1 2 'c '(f g))
;=> (f g)

(and 1 #f 2)
;=> #f

(or #f #f)
;=> #f

(or #f 2 (car '()))
;=> 2

(when (= 1 1) 'a 'b)
;=> b

(unless (= 1 2) 'a 'b)
;=> b

(let ((x 2) (y 3)) (let ((x 7) (z (+ x y))) (* z x)))
;=> 35

(let ((x 2) (y 3)) (let* ((x 7) (z (+ x y))) (* z x)))
;=> 70

(let* () 5)
;=> 5

(letrec ((even? (lambda (n) (if (= 0 n) #t (odd? (- n 1))))) (odd? (lambda (n) (if (= 0 n) #f (even? (- n 1)))))) (even? 88))
;=> #t

(letrec* ((p (lambda (x) (+ 1 (q (- x 1))))) (q (lambda (y) (if (zero? y) 0 (+ 1 (p (- y 1)))))) (x (p 5)) (y x)) y)
;=> 5

(let loop ((numbers '(3 -2 1 6 -5)) (pos '()) (neg '())) (cond ((null? numbers) (list pos neg)) ((>= (car numbers) 0) (loop (cdr numbers) (cons (car numbers) pos) neg)) (else (loop (cdr numbers) pos (cons (car numbers) neg)))))
;=> ((6 1 3) (-5 -2))

(let-values (((a b) (values 1 2)) ((c) (values 3))) (list a b c))
;=> (1 2 3)

(let ((a 'a) (b 'b) (x 'x) (y 'y)) (let*-values (((a b) (values x y)) ((x y) (values a b))) (list a b x y)))
;=> (x y x y)

(let-values ((all (values 1 2))) all)
;=> (1 2)

(receive (a . b) (values 1 2 3) (list a b))
;=> (1 (2 3))

(define (f) (define-values (x . y) (values 1 2 3)) (list x y)) (f)
;=> (1 (2 3))

(define-values (a b) (values 1 2)) (+ a b)
;=> 3

(do ((vec (make-vector 5)) (i 0 (+ i 1))) ((= i 5) vec) (vector-set! vec i i))
;=> #(0 1 2 3 4)

(let ((x '(1 3 5))) (do ((x x (cdr x)) (sum 0 (+ sum (car x)))) ((null? x) sum)))
;=> 9

(do () (#t))
;=> #<unspecified>

(let ((x 5)) (define foo (lambda (y) (bar x y))) (define bar (lambda (a b) (+ (* a b) a))) (foo (+ x 3)))
;=> 45

(define (f x) (define x 5) x) (f 1)
;=> 5

(let () (display "") (define x 1) (define y (+ x 1)) (list x y))
;=> (1 2)

(define (f) (begin (define a 1) (define b 2)) (+ a b)) (f)
;=> 3

(force (delay (+ 1 2)))
;=> 3

(let ((p (delay (+ 1 2)))) (list (force p) (force p)))
;=> (3 3)

(force (delay-force (delay 4)))
;=> 4

(define (loop n) (delay-force (if (= n 0) (delay 'done) (loop (- n 1))))) (force (loop 5000))
;=> done

(force 5)
;=> 5

(list (promise? (make-promise 1)) (force (make-promise (make-promise 2))))
;=> (#t 2)

(define p (make-parameter 10 (lambda (x) (* x x)))) (list (p) (parameterize ((p 3)) (p)) (p))
;=> (100 9 100)

(define p (make-parameter 1)) (parameterize () (p))
;=> 1

(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'a 42))))
;=> 42

(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'b 23))))
;=> (b . 23)

(guard (e (#f 1)) 'fine)
;=> fine

(call-with-values (lambda () (guard (e (#t 0)) (values 1 2))) list)
;=> (1 2)

(let ((trace '())) (define (note x) (set! trace (cons x trace))) (guard (o (#t (note o)))  (guard (i ((string? i) 1))   (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'x)) (lambda () (note 'out))))) (reverse trace))
;=> (in out in out x)

(define range (case-lambda ((e) (range 0 e)) ((b e) (if (>= b e) '() (cons b (range (+ b 1) e)))))) (list (range 3) (range 3 5))
;=> ((0 1 2) (3 4))

((case-lambda ((a) 'one) ((a . b) 'more)) 1 2)
;=> more

`(list ,(+ 1 2) 4)
;=> (list 3 4)

(let ((name 'a)) `(list ,name ',name))
;=> (list a 'a)

`(a ,(+ 1 2) ,@(map abs '(4 -5 6)) b)
;=> (a 3 4 5 6 b)

`((foo ,(- 10 3)) ,@(cdr '(c)) . ,(car '(cons)))
;=> ((foo 7) . cons)

`#(10 5 ,(sqrt 4) ,@(map sqrt '(16 9)) 8)
;=> #(10 5 2 4 3 8)

(let ((foo '(foo bar)) (@baz 'baz)) `(list ,@foo , @baz))
;=> (list foo bar baz)

`(a `(b ,(foo ,(+ 1 3) d) e) f)
;=> (a `(b ,(foo 4 d) e) f)

(let ((name1 'x) (name2 'y)) `(a `(b ,,name1 ,',name2 d) e))
;=> (a `(b ,x ,'y d) e)

`(1 . ,(+ 1 1))
;=> (1 . 2)

`,(+ 1 2)
;=> 3

`(1 `,(+ 1 ,(+ 2 3)) 4)
;=> (1 `,(+ 1 5) 4)

(quasiquote (a (unquote (+ 1 1)) (unquote-splicing '(x))))
;=> (a 2 x)

`#(,@'())
;=> #()

`(,@'(1 2) . 3)
;=> (1 2 . 3)

(define-record-type <p> (kons x y) p? (x kar set-kar!) (y kdr)) (let ((p (kons 1 2))) (set-kar! p 3) (list (p? p) (p? 1) (kar p) (kdr p)))
;=> (#t #f 3 2)

(define-record-type p (make) p? (x p-x set-p-x!)) (let ((r (make))) (set-p-x! r 1) (p-x r))
;=> 1

(define-record-type (p) make p? (x p-x)) (p-x (make 7))
;=> 7

(define-record-type x (make x) x? (x get-x)) (get-x (make 5))
;=> 5

(let () (define-record-type p (make x) p? (x p-x)) (p-x (make 5)))
;=> 5

(let-syntax ((foo (syntax-rules () ((_ x) (* x 2))))) (foo 4))
;=> 8

(cond-expand (full-unicode 1) (else 2))
;=> 1

(define-syntax my-lambda (syntax-rules () ((_ a b) (lambda a b)))) ((my-lambda (x) (+ x 1)) 1)
;=> 2
