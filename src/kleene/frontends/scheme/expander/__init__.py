"""The expander: data to the core. Macros are hygienic, and no depth of nesting is too deep."""
