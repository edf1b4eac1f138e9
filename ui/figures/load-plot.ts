import type uPlot from 'uplot';
import { LOCALE } from '../parts/format.ts';

/**
 * Loads uPlot. While it loads, uPlot makes a number format for the language of the browser, and fails if that is no valid
 * locale. Chromium reports `en-US@posix` where LANG is C, so uPlot gets another language then.
 */
export async function loadPlot(): Promise<typeof uPlot> {
  if (!isLocale(navigator.language))
    Object.defineProperty(navigator, 'language', { value: LOCALE, configurable: true });
  return (await import('uplot')).default;
}

function isLocale(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length === 1;
  } catch {
    return false;
  }
}
