import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Agent, request } from 'undici'
import { CHROMIUM } from '../test/support/packages/chromium.js'

/** A request of a console, and when it came: milliseconds of the page's clock after the start of the record. */
export interface RecordedRequest {
  readonly atMs: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/** What one console requests. */
export type ConsoleRecord = readonly RecordedRequest[]

/** How much faster the clocks of the pages run: consoles ask seldom. */
export const SPEED = 10
/** What is recorded of a console, by its page's clock: twice its longest pause between two requests of a kind. */
export const RECORDED_SECONDS = 1800
/** Consoles differ by chance. */
export const RECORDED_CONSOLES = 4
/** A page has loaded all that it needs at first. */
const LOADED_MS = 5000
const STEP_MS = 2000

/** Records consoles in Chromium that show the market of an instance. */
export async function recordConsoles(url: string): Promise<ConsoleRecord[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    return await Promise.all(Array.from({ length: RECORDED_CONSOLES }, () => recordConsole(url, browser)))
  } finally {
    await browser.close()
  }
}

async function recordConsole(url: string, browser: Browser): Promise<ConsoleRecord> {
  const page = await browser.newPage()
  await page.clock.install()
  await page.goto(`${url}/#/market`)
  await delay(LOADED_MS)
  const requests: RecordedRequest[] = []
  const start = await clockOf(page)
  let now = start
  page.on('request', (made) => {
    const { pathname, search } = new URL(made.url())
    const { 'content-type': type } = made.headers()
    requests.push({
      atMs: now - start,
      method: made.method() as 'GET' | 'POST',
      path: pathname + search,
      headers: type === undefined ? {} : { 'content-type': type, 'connect-protocol-version': '1' },
      body: made.postDataBuffer(),
    })
  })
  while (now - start < RECORDED_SECONDS * 1000) {
    await page.clock.runFor(STEP_MS)
    now = await clockOf(page)
    await delay(STEP_MS / SPEED)
  }
  return requests
}

const clockOf = (page: Page) => page.evaluate(() => Date.now())

/**
 * Repeats what consoles have requested, each at another time of its record. @throws Error when a request fails
 * @param count of the consoles
 * @param fromMs the part of the records that is repeated
 */
export async function repeatConsoles(
  url: string,
  records: readonly ConsoleRecord[],
  { count, fromMs, seconds }: { readonly count: number; readonly fromMs: number; readonly seconds: number },
): Promise<void> {
  const dispatcher = new Agent({ connections: count })
  const lengthMs = RECORDED_SECONDS * 1000
  const due = Array.from({ length: count }, (_, index) => {
    const shiftMs = fromMs + (index / count) * lengthMs
    return (records[index % records.length] ?? []).map((made) => ({
      ...made,
      dueMs: (made.atMs + shiftMs) % lengthMs,
    }))
  })
    .flat()
    .filter(({ dueMs }) => dueMs < seconds * 1000)
  const sent = due.map(async ({ dueMs, method, path, headers, body }) => {
    await delay(dueMs)
    const response = await request(url + path, { method, headers, body, dispatcher })
    await response.body.dump()
    if (response.statusCode !== 200) throw new Error(`${method} ${path} answered ${response.statusCode}`)
  })
  await Promise.all([delay(seconds * 1000), ...sent])
  await dispatcher.close()
}
