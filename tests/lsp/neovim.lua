-- Drives the server from a real Neovim: nvim --headless -u NONE -i NONE -n -c "luafile neovim.lua"
-- Environment: FILE (a C file with a double free), SERVER (the command, words separated by TAB).
-- Exit status 0 when every step held; the first that does not is named on stderr.

local function run()
  local function check(ok, what)
    if not ok then error(what, 0) end
    io.stdout:write("ok " .. what .. "\n")
  end
  local function wait(what, ready)
    check(vim.wait(100000, ready, 20), what)
  end

  local file = vim.env.FILE
  vim.cmd("edit " .. vim.fn.fnameescape(file))
  vim.bo.filetype = "c"
  local buf = vim.api.nvim_get_current_buf()
  local statuses, progress, errors = {}, {}, {}
  local id = vim.lsp.start_client({
    name = "jarvis",
    cmd = vim.split(vim.env.SERVER, "\t"),
    root_dir = vim.fn.fnamemodify(file, ":h"),
    init_options = { debounce = 20, workspaceScan = false },
    handlers = {
      ["jarvis/status"] = function(_, params) table.insert(statuses, params) end,
      ["$/progress"] = function(_, params) table.insert(progress, params) end,
      ["window/showMessage"] = function(_, params) table.insert(errors, params.message) end,
    },
    on_error = function(code, err) table.insert(errors, tostring(code) .. vim.inspect(err)) end,
  })
  check(id, "the client started")
  vim.lsp.buf_attach_client(buf, id)
  local client = vim.lsp.get_client_by_id(id)
  wait("initialized", function() return client.initialized end)
  check(client.offset_encoding == "utf-16", "positions are UTF-16")
  wait("one diagnostic", function() return #vim.diagnostic.get(buf) == 1 end)

  local found = vim.diagnostic.get(buf)[1]
  check(found.source == "jarvis", "source")
  check(found.user_data.lsp.code == "double-free", "code")
  check(found.severity == vim.diagnostic.severity.ERROR, "severity")
  check(found.lnum == 4 and found.col == 4, "place")

  -- typing: the diagnostic moves with the text, and back
  vim.api.nvim_buf_set_lines(buf, 0, 0, false, { "// 😀 é", "" })
  wait("it follows the text", function()
    local now = vim.diagnostic.get(buf)
    return #now == 1 and now[1].lnum == 6
  end)
  vim.api.nvim_buf_set_lines(buf, 0, 2, false, {})
  wait("and back", function()
    local now = vim.diagnostic.get(buf)
    return #now == 1 and now[1].lnum == 4
  end)

  local function request(method, params)
    local answers = vim.lsp.buf_request_sync(buf, method, params, 100000)
    check(answers and answers[id] and not answers[id].err, method)
    return answers[id].result
  end

  vim.api.nvim_win_set_cursor(0, { 5, 6 })
  local hover = request("textDocument/hover", vim.lsp.util.make_position_params())
  check(hover.contents.value:find("CWE%-415"), "hover tells the weakness")
  local lenses = request("textDocument/codeLens", { textDocument = { uri = vim.uri_from_bufnr(buf) } })
  check(#lenses == 1 and lenses[1].command.title == "1 finding", "lens")

  local function actions()
    local params = vim.lsp.util.make_range_params()
    params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(buf) }
    return request("textDocument/codeAction", params)
  end
  local function choose(start)
    for _, action in ipairs(actions()) do
      if action.title:sub(1, #start) == start then return action end
    end
    error("no action " .. start, 0)
  end

  -- suppress, and undo it
  local before = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
  local suppress = choose("Suppress double-free here")
  vim.lsp.util.apply_workspace_edit(suppress.edit, client.offset_encoding)
  wait("suppressed", function() return #vim.diagnostic.get(buf) == 0 end)
  vim.cmd("undo")
  check(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") == before, "undone")
  wait("and shown again", function() return #vim.diagnostic.get(buf) == 1 end)

  -- explain and scan are commands any client can run
  vim.api.nvim_win_set_cursor(0, { 5, 6 })
  local explain = choose("Explain double-free").command
  local page = request("workspace/executeCommand", { command = explain.command, arguments = explain.arguments })
  check(page:find("## Why is this bad?", 1, true), "the page of the rule")
  local scan = request("workspace/executeCommand", { command = "jarvis.scanWorkspace", arguments = {} })
  check(scan.files == 2 and scan.cancelled == false, "scan of the workspace")
  check(progress[1].value.kind == "begin" and progress[#progress].value.kind == "end", "progress")
  wait("a file that is not open has its diagnostic", function()
    return #vim.diagnostic.get() == 2
  end)
  wait("status", function() return #statuses > 0 and statuses[#statuses].findings == 2 end)

  -- the safe rewrite, written to disk
  local fix
  for _, action in ipairs(actions()) do
    if action.isPreferred then fix = action end
  end
  check(fix, "a safe rewrite")
  vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding)
  vim.cmd("silent write")
  wait("nothing left to say", function() return #vim.diagnostic.get(buf) == 0 end)
  check(table.concat(vim.fn.readfile(file), "\n"):find("p = NULL;", 1, true), "the fix is on disk")

  client.stop()
  wait("the server ended", function() return client.is_stopped() end)
  check(#errors == 0, "no error was shown: " .. table.concat(errors, "; "))
end

-- An error that nobody catches leaves a headless Neovim waiting for ever.
local ok, why = xpcall(run, function(err) return tostring(err) end)
if not ok then
  io.stderr:write("FAILED " .. tostring(why) .. "\n")
  vim.cmd("cq 1")
end
vim.cmd("qall!")
