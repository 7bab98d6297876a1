;; Parsers as procedures: each takes a list of characters, and gives a pair of value and rest, or #f.
(import (scheme base) (scheme char) (scheme write))

(define (item wanted?)
  (lambda (in) (if (and (pair? in) (wanted? (car in))) (cons (car in) (cdr in)) #f)))
(define (char c) (item (lambda (x) (char=? x c))))
(define (return v) (lambda (in) (cons v in)))
(define (bind parser f)
  (lambda (in) (let ((r (parser in))) (and r ((f (car r)) (cdr r))))))
(define (either . parsers)
  (lambda (in) (let loop ((ps parsers)) (and (pair? ps) (or ((car ps) in) (loop (cdr ps)))))))
(define (many p) (either (bind p (lambda (x) (bind (many p) (lambda (xs) (return (cons x xs)))))) (return '())))
(define (many1 p) (bind p (lambda (x) (bind (many p) (lambda (xs) (return (cons x xs)))))))
(define (lazy thunk) (lambda (in) ((thunk) in)))

(define-syntax parse
  (syntax-rules (<-)
    ((_ (name <- p) rest ...) (bind p (lambda (name) (parse rest ...))))
    ((_ result) (return result))
    ((_ p rest ...) (bind p (lambda (ignored) (parse rest ...))))))

(define spaces (many (char #\space)))
(define (token p) (parse (v <- p) spaces v))
(define number
  (token (parse (ds <- (many1 (item char-numeric?))) (string->number (list->string ds)))))
(define (chain operand operator)
  (define (rest left)
    (either (bind operator (lambda (f) (bind operand (lambda (right) (rest (f left right))))))
            (return left)))
  (bind operand rest))
(define (op c f) (parse (token (char c)) f))
(define factor
  (either number
          (parse (token (char #\()) (v <- (lazy (lambda () sum))) (token (char #\))) v)))
(define product (chain factor (either (op #\* *) (op #\/ /))))
(define sum (chain product (either (op #\+ +) (op #\- -))))
(define (calculate text)
  (let ((r ((parse spaces (v <- sum) v) (string->list text))))
    (if (and r (null? (cdr r))) (car r) 'syntax-error)))

(for-each (lambda (text) (write (calculate text)) (newline))
  '("1 + 2 * 3" "(1 + 2) * 3" "2 * (3 + 4) - 10 / 4" "7 - 2 - 1" "1 +"))
;=> 7
;=> 9
;=> 23/2
;=> 4
;=> syntax-error
