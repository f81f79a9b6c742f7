// The analysis of flow as machine code, made in the background of what `npm start` set up: nobody
// waits for it, and a scan meanwhile, or without a C compiler, runs the same as Python.

import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { capture, ROOT } from '../process.mjs';
import { venv } from './python.mjs';

const SCRIPT = path.join('scripts', 'package', 'leave_compiled.py');
const FOLDER = path.join('.cache', 'compiled');
const LOG = path.join(FOLDER, 'leave.log');

/** Begins to compile what is not compiled yet, and says so; `JARVIS_COMPILED=0` says not to. */
export async function leaveMachineCode() {
  if (process.env.JARVIS_COMPILED === '0') return;
  const { status, stdout, stderr } = await capture(venv('python'), [SCRIPT, '--state']);
  const state = status === 0 ? stdout.trim() : stderr.trim();
  if (state === 'to do') {
    compileInBackground();
    console.log(
      'Data-flow analysis is being compiled in the background, which takes some minutes;',
    );
    console.log(`a scan then takes two thirds of the time. ${LOG} says what went wrong.`);
  } else if (state === 'under way') {
    console.log('Data-flow analysis is still being compiled in the background.');
  } else if (state !== 'done') {
    console.log(`Data-flow analysis runs as Python, which takes longer: ${state}.`);
  }
}

function compileInBackground() {
  mkdirSync(path.join(ROOT, FOLDER), { recursive: true });
  const log = openSync(path.join(ROOT, LOG), 'w');
  const child = spawn(venv('python'), [SCRIPT], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', log, log],
    windowsHide: true,
  });
  child.once('error', (error) => console.error(`Not compiled: ${error.message}`));
  child.unref();
}
