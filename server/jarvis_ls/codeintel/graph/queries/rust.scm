(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @prototype
(struct_item name: (_) @name body: (_)? @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(union_item name: (_) @name body: (_) @body) @class
(trait_item name: (_) @name body: (_) @body) @class
(impl_item type: (type_identifier) @name body: (_) @body) @implementation
(impl_item type: (generic_type type: (type_identifier) @name) body: (_) @body) @implementation
(impl_item type: (scoped_type_identifier name: (type_identifier) @name) body: (_) @body)
  @implementation
(type_item name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @variable
(macro_definition name: (_) @name) @macro
(mod_item name: (_) @name body: (_) @body) @namespace

(use_declaration argument: (_) @module)
(mod_item name: (_) @module !body)
(use_as_clause path: (scoped_identifier name: (_) @item) alias: (_) @alias)
(use_as_clause path: (identifier) @item alias: (_) @alias)

;; words
(use_declaration) @import
(line_comment) @skip @comment
(block_comment) @skip @comment
(string_content) @skip
(char_literal) @skip
(lifetime) @skip
(parameter pattern: (identifier) @local)
(parameter pattern: (mut_pattern (identifier) @local))
(closure_parameters (identifier) @local)
(let_declaration pattern: (identifier) @local)
(let_declaration pattern: (mut_pattern (identifier) @local))
(for_expression pattern: (identifier) @local)
