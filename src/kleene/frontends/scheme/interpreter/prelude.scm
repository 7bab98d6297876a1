;; The primitives that call procedures, in Scheme. They use no mutation, so that a continuation
;; kept inside one of them may be entered twice.

(define (%cars lists) (if (null? lists) '() (cons (car (car lists)) (%cars (cdr lists)))))
(define (%cdrs lists) (if (null? lists) '() (cons (cdr (car lists)) (%cdrs (cdr lists)))))
(define (%all-pairs? lists)
  (or (null? lists) (and (pair? (car lists)) (%all-pairs? (cdr lists)))))

(define (map f first . rest)
  (define (one done items)
    (if (pair? items) (one (cons (f (car items)) done) (cdr items)) (reverse done)))
  (define (many done lists)
    (if (%all-pairs? lists)
        (many (cons (apply f (%cars lists)) done) (%cdrs lists))
        (reverse done)))
  (if (null? rest) (one '() first) (many '() (cons first rest))))

(define (for-each f first . rest)
  (define (one items)
    (if (pair? items) (begin (f (car items)) (one (cdr items)))))
  (define (many lists)
    (if (%all-pairs? lists) (begin (apply f (%cars lists)) (many (%cdrs lists)))))
  (if (null? rest) (one first) (many (cons first rest))))

(define (append-map f . lists) (apply append (apply map f lists)))
(define (filter-map f . lists) (filter (lambda (x) x) (apply map f lists)))
(define (vector-map f . vectors) (list->vector (apply map f (map vector->list vectors))))
(define (vector-for-each f . vectors) (apply for-each f (map vector->list vectors)))
(define (string-map f . strings) (list->string (apply map f (map string->list strings))))
(define (string-for-each f . strings) (apply for-each f (map string->list strings)))

(define (filter keep? items)
  (let loop ((done '()) (items items))
    (cond ((null? items) (reverse done))
          ((keep? (car items)) (loop (cons (car items) done) (cdr items)))
          (else (loop done (cdr items))))))

(define (remove drop? items) (filter (lambda (item) (not (drop? item))) items))

(define (partition in? items)
  (let loop ((in '()) (out '()) (items items))
    (cond ((null? items) (values (reverse in) (reverse out)))
          ((in? (car items)) (loop (cons (car items) in) out (cdr items)))
          (else (loop in (cons (car items) out) (cdr items))))))

(define (fold f start first . rest)
  (if (null? rest)
      (let loop ((result start) (items first))
        (if (pair? items) (loop (f (car items) result) (cdr items)) result))
      (let loop ((result start) (lists (cons first rest)))
        (if (%all-pairs? lists)
            (loop (apply f (append (%cars lists) (list result))) (%cdrs lists))
            result))))

(define (fold-left f start . lists)
  (let loop ((result start) (lists lists))
    (if (%all-pairs? lists)
        (loop (apply f result (%cars lists)) (%cdrs lists))
        result)))

(define (fold-right f start . lists)
  (let loop ((lists lists))
    (if (%all-pairs? lists)
        (apply f (append (%cars lists) (list (loop (%cdrs lists)))))
        start)))

(define (reduce f start items)
  (if (null? items) start (fold f (car items) (cdr items))))

(define (find wanted? items)
  (let ((tail (find-tail wanted? items))) (and tail (car tail))))

(define (find-tail wanted? items)
  (and (pair? items) (if (wanted? (car items)) items (find-tail wanted? (cdr items)))))

(define (list-index wanted? . lists)
  (let loop ((i 0) (lists lists))
    (and (%all-pairs? lists)
         (if (apply wanted? (%cars lists)) i (loop (+ i 1) (%cdrs lists))))))

(define (any f . lists)
  (let loop ((lists lists))
    (and (%all-pairs? lists)
         (or (apply f (%cars lists)) (loop (%cdrs lists))))))

(define (every f . lists)
  (let loop ((last #t) (lists lists))
    (if (%all-pairs? lists)
        (let ((result (apply f (%cars lists)))) (and result (loop result (%cdrs lists))))
        last)))

(define (count f . lists)
  (let loop ((n 0) (lists lists))
    (if (%all-pairs? lists)
        (loop (if (apply f (%cars lists)) (+ n 1) n) (%cdrs lists))
        n)))

(define (delete item items . same)
  (let ((same? (if (null? same) equal? (car same))))
    (remove (lambda (other) (same? item other)) items)))

(define (delete-duplicates items . same)
  (let ((same? (if (null? same) equal? (car same))))
    (let loop ((done '()) (items items))
      (cond ((null? items) (reverse done))
            ((any (lambda (other) (same? other (car items))) done) (loop done (cdr items)))
            (else (loop (cons (car items) done) (cdr items)))))))

(define (list-tabulate n f) (map f (iota n)))

(define (unfold stop? mapper successor seed . tail)
  (let loop ((seed seed))
    (if (stop? seed)
        (if (null? tail) '() ((car tail) seed))
        (cons (mapper seed) (loop (successor seed))))))

(define (member item items . same)
  (let ((same? (if (null? same) equal? (car same))))
    (let loop ((items items))
      (and (pair? items) (if (same? item (car items)) items (loop (cdr items)))))))

(define (assoc key entries . same)
  (let ((same? (if (null? same) equal? (car same))))
    (let loop ((entries entries))
      (and (pair? entries)
           (if (same? key (car (car entries))) (car entries) (loop (cdr entries)))))))

(define (%merge before? left right)
  (let loop ((done '()) (left left) (right right))
    (cond ((null? left) (append-reverse done right))
          ((null? right) (append-reverse done left))
          ((before? (car right) (car left)) (loop (cons (car right) done) left (cdr right)))
          (else (loop (cons (car left) done) (cdr left) right)))))

(define (%sort-list items before?)
  (let ((n (length items)))
    (if (< n 2)
        items
        (let ((half (quotient n 2)))
          (%merge before?
                  (%sort-list (take items half) before?)
                  (%sort-list (drop items half) before?))))))

(define (sort items before?)
  (cond ((procedure? items) (sort before? items))
        ((vector? items) (list->vector (%sort-list (vector->list items) before?)))
        (else (%sort-list items before?))))

(define (list-sort before? items) (sort items before?))

(define (call-with-port port f)
  (call-with-values (lambda () (f port))
    (lambda results (close-port port) (apply values results))))

(define (call-with-input-file name f) (call-with-port (open-input-file name) f))
(define (call-with-output-file name f) (call-with-port (open-output-file name) f))

(define (with-input-from-file name thunk)
  (call-with-input-file name
    (lambda (port) (parameterize ((current-input-port port)) (thunk)))))

(define (with-output-to-file name thunk)
  (call-with-output-file name
    (lambda (port) (parameterize ((current-output-port port)) (thunk)))))

(define (call-with-output-string f)
  (let ((port (open-output-string))) (f port) (get-output-string port)))

(define (with-output-to-string thunk)
  (call-with-output-string
    (lambda (port) (parameterize ((current-output-port port)) (thunk)))))

;; SRFI 69. A table has a vector of buckets, which are lists of pairs (key . value), and calls the
;; procedures it was made with: the hash procedure with a key and a bound, the other with two keys.
(define-record-type hash-table
  (%make-table equivalence hash size buckets)
  hash-table?
  (equivalence hash-table-equivalence-function)
  (hash hash-table-hash-function)
  (size hash-table-size %set-size!)
  (buckets %buckets %set-buckets!))

(define (%hash-for equivalence)
  (cond ((or (eq? equivalence eq?) (eq? equivalence eqv?)) hash-by-identity)
        ((eq? equivalence string=?) string-hash)
        ((eq? equivalence string-ci=?) string-ci-hash)
        (else hash)))

(define (make-hash-table . procedures)
  (let* ((equivalence (if (pair? procedures) (car procedures) equal?))
         (more (if (pair? procedures) (cdr procedures) '()))
         (hash (if (pair? more) (car more) (%hash-for equivalence))))
    (%make-table equivalence hash 0 (make-vector 7 '()))))

(define (%bucket table key)
  (let ((bound (vector-length (%buckets table))))
    (modulo ((hash-table-hash-function table) key bound) bound)))

(define (%entry table key)
  (let ((same? (hash-table-equivalence-function table)))
    (let loop ((entries (vector-ref (%buckets table) (%bucket table key))))
      (cond ((null? entries) #f)
            ((same? key (caar entries)) (car entries))
            (else (loop (cdr entries)))))))

(define (%put-entry! table entry)
  (let ((bucket (%bucket table (car entry))) (buckets (%buckets table)))
    (vector-set! buckets bucket (cons entry (vector-ref buckets bucket)))
    (%set-size! table (+ (hash-table-size table) 1))))

(define (%grow! table)
  (let ((entries (hash-table->alist table)))
    (%set-buckets! table (make-vector (+ 1 (* 2 (vector-length (%buckets table)))) '()))
    (%set-size! table 0)
    (for-each (lambda (entry) (%put-entry! table entry)) entries)))

(define (hash-table-set! table key value)
  (let ((entry (%entry table key)))
    (cond (entry (set-cdr! entry value))
          (else (if (> (hash-table-size table) (* 2 (vector-length (%buckets table))))
                    (%grow! table))
                (%put-entry! table (cons key value))))))

(define (hash-table-delete! table key)
  (let ((entry (%entry table key)))
    (if entry
        (let ((bucket (%bucket table key)) (buckets (%buckets table)))
          (vector-set! buckets bucket
                       (remove (lambda (other) (eq? other entry)) (vector-ref buckets bucket)))
          (%set-size! table (- (hash-table-size table) 1))))))

(define (hash-table-exists? table key) (if (%entry table key) #t #f))
(define (hash-table-contains? table key) (hash-table-exists? table key))
(define (hash-table-count table) (hash-table-size table))

(define (hash-table-ref table key . more)
  (let ((entry (%entry table key)))
    (cond ((and entry (pair? more) (pair? (cdr more))) ((cadr more) (cdr entry)))
          (entry (cdr entry))
          ((pair? more) ((car more)))
          (else (error "hash-table-ref: no such key" key)))))

(define (hash-table-ref/default table key default)
  (let ((entry (%entry table key))) (if entry (cdr entry) default)))

(define (hash-table-update! table key f . more)
  (hash-table-set! table key (f (apply hash-table-ref table key more))))

(define (hash-table-update!/default table key f default)
  (hash-table-set! table key (f (hash-table-ref/default table key default))))

(define (hash-table-fold table f start)
  (fold (lambda (entry result) (f (car entry) (cdr entry) result)) start
        (hash-table->alist table)))

(define (hash-table-walk table f)
  (for-each (lambda (entry) (f (car entry) (cdr entry))) (hash-table->alist table)))

(define (hash-table->alist table)
  (append-map (lambda (entries) (map (lambda (entry) (cons (car entry) (cdr entry))) entries))
              (vector->list (%buckets table))))

(define (hash-table-keys table) (map car (hash-table->alist table)))
(define (hash-table-values table) (map cdr (hash-table->alist table)))

(define (%put-new! table entries)
  (for-each (lambda (entry)
              (if (not (hash-table-exists? table (car entry)))
                  (hash-table-set! table (car entry) (cdr entry))))
            entries))

(define (alist->hash-table entries . procedures)
  (let ((table (apply make-hash-table procedures))) (%put-new! table entries) table))

(define (hash-table-copy table)
  (let ((copy (make-hash-table (hash-table-equivalence-function table)
                               (hash-table-hash-function table))))
    (%put-new! copy (hash-table->alist table))
    copy))

(define (hash-table-merge! table other)
  (for-each (lambda (entry) (hash-table-set! table (car entry) (cdr entry)))
            (hash-table->alist other))
  table)

;; A guard's clauses run outside its body; raising again happens inside, where it was raised.
(define (%guard thunk handler)
  ((call/cc
     (lambda (leave)
       (with-exception-handler
         (lambda (condition)
           ((call/cc
              (lambda (return)
                (leave
                  (lambda ()
                    (handler condition
                             (lambda ()
                               (return (lambda () (raise-continuable condition)))))))))))
         (lambda ()
           (call-with-values thunk
             (lambda results (leave (lambda () (apply values results)))))))))))
