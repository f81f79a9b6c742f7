(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration
    type: [(type_identifier) @container
           (generic_type type: (type_identifier) @container)
           (pointer_type (type_identifier) @container)
           (pointer_type (generic_type type: (type_identifier) @container))]))
  name: (_) @name body: (_)? @body) @function
(type_spec name: (_) @name) @class
(type_alias name: (_) @name) @type
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))

(import_spec path: (_) @module)

;; words
(comment) @skip @comment
(interpreted_string_literal) @skip
(raw_string_literal) @skip
(rune_literal) @skip
(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
