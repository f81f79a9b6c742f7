/**
 * One item in the status bar. The user sees at a glance how many findings are open and how far a
 * scan is; the tooltip says whether a model is there to chat with; a click opens the findings view, or the way out of an error.
 */

import {
  commands,
  l10n,
  MarkdownString,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
} from 'vscode';
import type { JarvisContext, ServerLife } from '../context';
import { STATUS, type StatusParams } from '../protocol';
import { countOf } from './findings/labels';

interface Face {
  text: string;
  /** What a screen reader says and what the tooltip begins with. */
  sentence: string;
  command: string;
  background?: 'statusBarItem.errorBackground' | 'statusBarItem.warningBackground';
}

const PRIORITY = 100;

export function activate(context: JarvisContext): void {
  const item = window.createStatusBarItem('jarvisLs.status', StatusBarAlignment.Left, PRIORITY);
  item.name = 'Jarvis';
  context.subscriptions.push(item);
  let status: StatusParams | undefined;
  const draw = () => {
    const scanning = status !== undefined && isScanning(status);
    show(item, face(context.serverLife, status), scanning, status?.model);
    void commands.executeCommand('setContext', 'jarvisLs.scanning', scanning);
  };
  context.on(STATUS, (params) => {
    status = params;
    draw();
  });
  context.subscriptions.push(
    context.onLife((life) => {
      status = life === 'running' ? status : undefined;
      draw();
    }),
  );
  draw();
}

function face(life: ServerLife, status: StatusParams | undefined): Face {
  const show = 'jarvisLs.showFindings';
  switch (life) {
    case 'noPython':
      return {
        text: `$(warning) ${l10n.t('Jarvis: no Python')}`,
        sentence: l10n.t('Jarvis needs Python 3.10 or newer. Click to choose one.'),
        command: 'jarvisLs.chooseInterpreter',
        background: 'statusBarItem.warningBackground',
      };
    case 'failed':
      return {
        text: `$(error) ${l10n.t('Jarvis: stopped')}`,
        sentence: l10n.t('The Jarvis language server is not running. Click to restart it.'),
        command: 'jarvisLs.restartServer',
        background: 'statusBarItem.errorBackground',
      };
    case 'stopped':
    case 'starting':
      return {
        text: `$(loading~spin) ${l10n.t('Jarvis')}`,
        sentence: l10n.t('The Jarvis language server is starting.'),
        command: show,
      };
    case 'running':
      return status === undefined
        ? { text: '$(shield) Jarvis', sentence: l10n.t('Jarvis is ready.'), command: show }
        : statusFace(status, show);
  }
}

/** Whether one of the halves of a scan runs. */
function isScanning({ state }: StatusParams): boolean {
  return state === 'scanning' || state === 'following';
}

function statusFace(status: StatusParams, command: string): Face {
  if (isScanning(status)) {
    const { done, total } = status;
    const found = countOf(status.findings);
    const [text, sentence] =
      status.state === 'scanning'
        ? [
            l10n.t('Scanning {0}/{1}', done, total),
            l10n.t('Scanning: {0} of {1} files, {2} so far.', done, total, found),
          ]
        : [
            l10n.t('Data flow {0}/{1}', done, total),
            l10n.t('Analysing data flow: {0} of {1} files, {2} so far.', done, total, found),
          ];
    return { text: `$(sync~spin) ${text}`, sentence, command };
  }
  if (status.state === 'error') {
    return {
      text: `$(error) ${l10n.t('Jarvis')}`,
      sentence: status.message ?? l10n.t('The last scan failed.'),
      command: 'jarvisLs.showOutput',
      background: 'statusBarItem.errorBackground',
    };
  }
  return {
    text: `$(shield) ${countOf(status.findings)}`,
    sentence: `Jarvis: ${countOf(status.findings)}. ${modelSentence(status.model)}`.trim(),
    command,
  };
}

/** What the chat can count on; nothing before the panel was used. */
function modelSentence(model: StatusParams['model']): string {
  switch (model) {
    case undefined:
      return '';
    case 'none':
      return l10n.t('Model: none.');
    case 'ready':
      return l10n.t('Model: ready.');
    case 'failing':
      return l10n.t('Model: failing.');
  }
}

function show(
  item: StatusBarItem,
  { text, sentence, command, background }: Face,
  scanning: boolean,
  model: StatusParams['model'],
) {
  item.text = text;
  item.command = command;
  item.accessibilityInformation = { label: sentence, role: 'button' };
  item.backgroundColor = background === undefined ? undefined : new ThemeColor(background);
  item.tooltip = tooltip(sentence, scanning, model);
  item.show();
}

/** The sentence with the things one may want next. */
function tooltip(
  sentence: string,
  scanning: boolean,
  model: StatusParams['model'],
): MarkdownString {
  const links: Array<[string, string]> = [
    scanning
      ? [l10n.t('Cancel Scan'), 'jarvisLs.cancelScan']
      : [l10n.t('Scan Workspace'), 'jarvisLs.scanWorkspace'],
    ...(model === 'none' || model === 'failing'
      ? [[l10n.t('Set Up a Model'), 'jarvisLs.setUpModel'] as [string, string]]
      : []),
    [l10n.t('Restart Server'), 'jarvisLs.restartServer'],
    [l10n.t('Show Output'), 'jarvisLs.showOutput'],
  ];
  const text = new MarkdownString('', true);
  text.isTrusted = { enabledCommands: links.map(([, command]) => command) };
  text.appendText(sentence);
  text.appendMarkdown('\n\n');
  text.appendMarkdown(
    links.map(([label, command]) => `[${label}](command:${command})`).join(' · '),
  );
  return text;
}
