;; Strings, characters, symbols, and string ports.
(import (scheme base) (scheme char) (scheme write) (scheme read))

(define (reverse-words text)
  (let loop ((in (string->list text)) (word '()) (words '()))
    (define (done) (if (null? word) words (cons (list->string (reverse word)) words)))
    (cond ((null? in) (done))
          ((char=? (car in) #\space) (loop (cdr in) '() (done)))
          (else (loop (cdr in) (cons (car in) word) words)))))
(write (reverse-words "the quick  brown fox")) (newline)

(define (caesar n)
  (lambda (c)
    (if (char-alphabetic? c)
        (let ((base (char->integer (if (char-upper-case? c) #\A #\a))))
          (integer->char (+ base (modulo (+ n (- (char->integer c) base)) 26))))
        c)))
(write (string-map (caesar 3) "Hello, World")) (newline)
(write (string-map (caesar -3) (string-map (caesar 3) "Hello"))) (newline)
(define counts (make-vector 26 0))
(string-for-each
  (lambda (c)
    (if (char-alphabetic? c)
        (let ((i (- (char->integer (char-downcase c)) 97)))
          (vector-set! counts i (+ 1 (vector-ref counts i))))))
  "Mississippi")
(write (list (vector-ref counts 8) (vector-ref counts 12) (vector-ref counts 18))) (newline)
(define in (open-input-string "(a b . c) #(1 \"two\") x rest of line\nnext"))
(write (list (read in) (read in) (read in) (read-char in) (read-line in) (read-line in) (eof-object? (read-line in))))
(newline)
(define out (open-output-string))
(write '(1 "a\nb" #\space sym) out)
(display '(1 "a" #\b) out)
(write (get-output-string out)) (newline)
(write (list (string->symbol "Hi") (symbol->string 'abc) (string-append "a" "b" "c") (substring "hello" 1 3)
             (string<? "abc" "abd" "abe") (string=? "a" "a") (string-upcase "abc"))) (newline)
(let ((s (make-string 3 #\-))) (string-set! s 1 #\x) (write s) (newline))
(write (string->list "abc")) (write (string->number "ff" 16)) (write (number->string 255 2)) (newline)
;=> ("fox" "brown" "quick" "the")
;=> "Khoor, Zruog"
;=> "Hello"
;=> (4 1 4)
;=> ((a b . c) #(1 "two") x #\space "rest of line" "next" #t)
;=> "(1 \"a\\nb\" #\\space sym)(1 a b)"
;=> (Hi "abc" "abc" "el" #t #t "ABC")
;=> "-x-"
;=> (#\a #\b #\c)255"11111111"
