// The words a test says to the side panel's page in a workbench.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { until, violations } from './workbench.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where pictures go, when someone wants to look at them. */
const PICTURES = process.env.JARVIS_PANEL_PICTURES;

/** The panel's page in a workbench. */
export class Panel {
  /** @param {import('./workbench.mjs').Workbench} editor */
  constructor(editor) {
    this.editor = editor;
    this.page = editor.webview;
  }

  static async open(editor, title = 'Jarvis: Open Chat') {
    await editor.command(title);
    const panel = new Panel(editor);
    await panel.page.locator('vscode-tabs').waitFor();
    return panel;
  }

  get field() {
    return this.page.locator('.composer textarea');
  }

  /** @param {string} text */
  async say(text) {
    await this.wake();
    await this.field.fill(text);
    // A server that has just been started anew is attached to first.
    await this.page.locator('[data-part=send]:not([disabled])').waitFor();
    await this.field.press('Enter');
    await until('the message was taken', async () => (await this.field.inputValue()) === '');
  }

  /** @param {string} text of an answer */
  answered(text) {
    return this.page.locator('.answer', { hasText: text }).last().waitFor();
  }

  /**
   * Has a turn that failed tried again until it answers: a page that is drawn anew between pressing
   * and letting go, as it is when models have changed, misses the click.
   * @param {string} text of the answer
   */
  async retried(text) {
    const answer = this.page.locator('.answer', { hasText: text }).last();
    await this.editor.click(this.page.locator('[data-part=retry]'), answer);
  }

  /** @param {string} name */
  async tab(name) {
    await this.wake();
    await this.page.locator(`vscode-tab-header[data-tab="${name}"]`).click();
  }

  /**
   * Lets time pass in the page, by its own timers.
   * @param {number} milliseconds
   */
  async passes(milliseconds) {
    await this.page
      .locator('body')
      .evaluate((_, time) => new Promise((resolve) => setTimeout(resolve, time)), milliseconds);
  }

  async rest() {
    await this.wake();
    await this.page.locator('.working').waitFor({ state: 'detached' });
  }

  /**
   * Has the browser draw at its full rate: when the focus goes from the panel's page to the editor, it
   * takes the window for one behind others and draws once a second, and each click waits for two.
   */
  async wake() {
    await this.editor.page.bringToFront();
  }

  /** What axe finds wrong in the page. */
  async violations() {
    const frames = this.editor.page.frames();
    const frame = frames.find((it) => it.name() === 'active-frame') ?? frames.at(-1);
    await frame.evaluate(AXE);
    return violations(frame);
  }

  /** @param {string} name */
  async picture(name) {
    if (PICTURES) await this.editor.picture(path.join(PICTURES, `${name}.png`));
  }
}
