(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(method_definition name: (_) @name body: (_) @body) @function
(public_field_definition name: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
          (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(assignment_expression left: (identifier) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name)
  right: (class body: (_) @body)) @class
(pair key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @variable)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @variable)
(program (export_statement
  (lexical_declaration (variable_declarator name: (identifier) @name)) @variable))

(import_statement source: (string) @module)
(export_statement source: (string) @module)
(call_expression function: (identifier) @required arguments: (arguments . (string) @module)
  (#eq? @required "require"))
(import_specifier name: (identifier) @item alias: (identifier) @alias)

(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(type_alias_declaration name: (_) @name) @type
(function_signature name: (_) @name) @prototype
(method_signature name: (property_identifier) @name) @prototype
(abstract_method_signature name: (property_identifier) @name) @prototype
(internal_module name: (_) @name body: (_) @body) @namespace

;; words
(import_statement) @import
(export_statement source: (_)) @import
(comment) @skip @comment
(string_fragment) @skip
(regex) @skip
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(variable_declarator name: (identifier) @local)
(for_in_statement left: (identifier) @local)
(catch_clause parameter: (identifier) @local)
