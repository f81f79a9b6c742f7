(function_definition name: (identifier) @name body: (_) @body) @function
(class_definition name: (identifier) @name body: (_) @body) @class
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(module (expression_statement (assignment left: (pattern_list (identifier) @name))) @variable)

(import_statement name: (dotted_name) @module)
(import_statement name: (aliased_import name: (dotted_name) @module))
(import_from_statement module_name: (_) @module name: (dotted_name) @item)
(import_from_statement module_name: (_) @module
  name: (aliased_import name: (dotted_name) @item alias: (identifier) @alias))
(import_from_statement module_name: (_) @module (wildcard_import))

;; words
(import_statement) @import
(import_from_statement) @import
(comment) @skip @comment
(string_content) @skip
(string_start) @skip
(string_end) @skip
(keyword_argument name: (identifier) @skip)
(parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(lambda_parameters (identifier) @local)
(assignment left: (identifier) @local)
(assignment left: (pattern_list (identifier) @local))
(for_statement left: (identifier) @local)
(for_statement left: (pattern_list (identifier) @local))
(for_in_clause left: (identifier) @local)
(for_in_clause left: (pattern_list (identifier) @local))
