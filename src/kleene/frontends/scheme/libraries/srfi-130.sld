;; SRFI 130, strings by cursors. A cursor is an index here; searches that find nothing return where
;; they end, and those from the right return the cursor behind what they find.
(define-library (srfi 130)
  (export
    string-cursor? string-cursor-start string-cursor-end string-cursor-next string-cursor-prev
    string-cursor-forward string-cursor-back string-cursor=? string-cursor<? string-cursor>?
    string-cursor<=? string-cursor>=? string-cursor-diff string-cursor->index string-index->cursor
    string-null? string-every string-any string-tabulate string-unfold string-unfold-right
    string->list/cursors string->vector/cursors reverse-list->string string-join
    string-ref/cursor substring/cursors string-copy/cursors
    string-take string-drop string-take-right string-drop-right string-pad string-pad-right
    string-trim string-trim-right string-trim-both
    string-prefix-length string-suffix-length string-prefix? string-suffix?
    string-index string-index-right string-skip string-skip-right
    string-contains string-contains-right
    string-reverse string-concatenate string-concatenate-reverse string-fold string-fold-right
    string-for-each-cursor string-replicate string-count string-replace string-split
    string-filter string-remove)
  (import
    (except (kleene internal) string-join)
    (rename (only (srfi 13)
                  string-null? string-every string-any string-tabulate string-unfold
                  string-unfold-right reverse-list->string string-join string-take string-drop
                  string-take-right string-drop-right string-pad string-pad-right string-trim
                  string-trim-right string-trim-both string-prefix-length string-suffix-length
                  string-prefix? string-suffix? string-index string-index-right string-skip
                  string-skip-right string-contains string-reverse string-concatenate
                  string-concatenate-reverse string-fold string-fold-right
                  string-for-each-index xsubstring string-count string-replace string-filter
                  string-delete)
            (string-index first-index) (string-index-right last-index)
            (string-skip first-other) (string-skip-right last-other)
            (string-for-each-index string-for-each-cursor) (string-delete string-remove)))
  (begin
    (define (string-cursor? x) (and (exact-integer? x) (>= x 0)))
    (define (string-cursor-start s) 0)
    (define (string-cursor-end s) (string-length s))
    (define (string-cursor-next s cursor) (+ cursor 1))
    (define (string-cursor-prev s cursor) (- cursor 1))
    (define (string-cursor-forward s cursor n) (+ cursor n))
    (define (string-cursor-back s cursor n) (- cursor n))
    (define (string-cursor=? a b) (= a b))
    (define (string-cursor<? a b) (< a b))
    (define (string-cursor>? a b) (> a b))
    (define (string-cursor<=? a b) (<= a b))
    (define (string-cursor>=? a b) (>= a b))
    (define (string-cursor-diff s start end) (- end start))
    (define (string-cursor->index s cursor) cursor)
    (define (string-index->cursor s index) index)

    (define (string->list/cursors s . more) (apply string->list s more))
    (define (string->vector/cursors s . more) (apply string->vector s more))
    (define (string-ref/cursor s cursor) (string-ref s cursor))
    (define (substring/cursors s start end) (substring s start end))
    (define (string-copy/cursors s . more) (apply string-copy s more))

    (define (start-of more) (if (pair? more) (car more) 0))
    (define (end-of s more)
      (if (and (pair? more) (pair? (cdr more))) (cadr more) (string-length s)))
    (define (string-index s criterion . more)
      (or (apply first-index s criterion more) (end-of s more)))
    (define (string-skip s criterion . more)
      (or (apply first-other s criterion more) (end-of s more)))
    (define (string-index-right s criterion . more)
      (let ((i (apply last-index s criterion more))) (if i (+ i 1) (start-of more))))
    (define (string-skip-right s criterion . more)
      (let ((i (apply last-other s criterion more))) (if i (+ i 1) (start-of more))))

    (define (string-contains-right s pattern . more)
      (let* ((start (start-of more)) (end (end-of s more))
             (rest (if (and (pair? more) (pair? (cdr more))) (cddr more) '()))
             (pattern (substring pattern (start-of rest) (end-of pattern rest)))
             (n (string-length pattern)))
        (let loop ((i (- end n)))
          (and (>= i start)
               (if (string=? pattern (substring s i (+ i n))) i (loop (- i 1)))))))

    (define (string-replicate s from to . more) (apply xsubstring s from to more))

    ;; The strings between delimiters, at most `limit` of which count; none of an empty string.
    (define (string-split s delimiter . more)
      (let* ((grammar (if (pair? more) (car more) 'infix))
             (limit (and (pair? more) (pair? (cdr more)) (cadr more)))
             (ends (if (and (pair? more) (pair? (cdr more))) (cddr more) '()))
             (s (substring s (start-of ends) (end-of s ends)))
             (pieces (if (string-null? s) '() (split s delimiter limit))))
        (cond ((and (eq? grammar 'strict-infix) (null? pieces))
               (error "string-split: an empty string has no pieces"))
              ((and (eq? grammar 'prefix) (pair? pieces) (string-null? (car pieces)))
               (cdr pieces))
              ((and (eq? grammar 'suffix) (pair? pieces) (string-null? (last pieces)))
               (drop-right pieces 1))
              (else pieces))))
    (define (split s delimiter limit)
      (let ((n (string-length delimiter)))
        (let loop ((rest s) (left limit) (pieces '()))
          (let ((i (cond ((and left (<= left 0)) #f)
                         ((> n 0) (string-contains rest delimiter))
                         (else (and (> (string-length rest) 1) 1)))))
            (if i
                (loop (string-drop rest (+ i n)) (and left (- left 1))
                      (cons (string-take rest i) pieces))
                (reverse (cons rest pieces)))))))))
