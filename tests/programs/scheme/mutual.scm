;; Mutual recursion, at the top level, in letrec, and by internal definitions.
(import (scheme base) (scheme write))

(define (even-n? n) (if (= n 0) #t (odd-n? (- n 1))))
(define (odd-n? n) (if (= n 0) #f (even-n? (- n 1))))
(write (list (even-n? 1000) (odd-n? 1000))) (newline)

(write (letrec ((ping (lambda (n) (if (= n 0) 'ping (pong (- n 1)))))
                (pong (lambda (n) (if (= n 0) 'pong (ping (- n 1))))))
         (list (ping 7) (pong 7)))) (newline)

(define (states word)
  (define (start w) (if (null? w) #f (if (eq? (car w) 'a) (middle (cdr w)) #f)))
  (define (middle w)
    (cond ((null? w) #f) ((eq? (car w) 'a) (middle (cdr w))) (else (end w))))
  (define (end w) (and (eq? (car w) 'b) (null? (cdr w))))
  (start word))
(write (map states '((a b) (a a a b) (b) (a a) (a b b)))) (newline)

;; Hofstadter's female and male sequences.
(define (female n) (if (= n 0) 1 (- n (male (female (- n 1))))))
(define (male n) (if (= n 0) 0 (- n (female (male (- n 1))))))
(define (table f n) (let loop ((i 0)) (if (= i n) '() (cons (f i) (loop (+ i 1))))))
(write (table female 12)) (write (table male 12)) (newline)
;=> (#t #f)
;=> (pong ping)
;=> (#t #t #f #f #f)
;=> (1 1 2 2 3 3 4 5 5 6 6 7)(0 0 1 2 2 3 4 4 5 6 6 7)
