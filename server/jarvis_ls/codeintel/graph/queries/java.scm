(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(annotation_type_declaration name: (_) @name body: (_) @body) @class
(method_declaration name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_) @body) @function

(import_declaration (scoped_identifier) @module)

;; words
(import_declaration) @import
(line_comment) @skip @comment
(block_comment) @skip @comment
(string_literal) @skip
(character_literal) @skip
(formal_parameter name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(inferred_parameters (identifier) @local)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
