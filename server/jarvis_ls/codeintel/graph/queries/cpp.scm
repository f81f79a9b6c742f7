(function_definition body: (_) @body) @function
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(enumerator name: (identifier) @name) @constant
(type_definition declarator: (_) @declarator) @type
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(translation_unit (declaration declarator: (_) @declarator) @variable)
(preproc_ifdef (declaration declarator: (_) @declarator) @variable)
(preproc_if (declaration declarator: (_) @declarator) @variable)
(preproc_else (declaration declarator: (_) @declarator) @variable)
(linkage_specification (declaration_list (declaration declarator: (_) @declarator) @variable))

(preproc_include path: (_) @module)

(class_specifier name: (_) @name body: (_) @body) @class
(namespace_definition name: (_) @name body: (_) @body) @namespace
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(field_declaration declarator: (function_declarator) @declarator) @variable
(declaration_list (declaration declarator: (_) @declarator) @variable)

;; words
(comment) @skip @comment
(string_content) @skip
(raw_string_content) @skip
(char_literal) @skip
(system_lib_string) @skip
(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(reference_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
