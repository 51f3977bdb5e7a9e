import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, chromium } from 'playwright-core'
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

/** What is recorded of a console, by its page's clock: twice its longest pause between two requests of a kind, 3.6 hours. */
export const RECORDED_SECONDS = 25_920
/** Consoles differ by chance. */
export const RECORDED_CONSOLES = 2
/** Time of the page's clock from one event to the next. Without a message for 28 s, a console opens its stream again. */
export const STEP_SECONDS = 20
/** A page has loaded all that it needs at first. */
const LOADED_MS = 5000

/**
 * Records consoles in Chromium that show the market of an instance. Their clocks stand still while an event is on its way to all of
 * them, then they jump by a step. Each timer that is due runs once: a page that paints each second of hours takes too long.
 * @param emitEvent has the chain emit an event
 */
export async function recordConsoles(
  url: string,
  emitEvent: () => Promise<unknown>,
): Promise<ConsoleRecord[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const consoles = await Promise.all(
      Array.from({ length: RECORDED_CONSOLES }, () => openConsole(url, browser)),
    )
    for (let second = 0; second < RECORDED_SECONDS; second += STEP_SECONDS) {
      const arrivals = consoles.map(({ nextEvent }) => nextEvent())
      await emitEvent()
      await Promise.all(arrivals)
      await Promise.all(consoles.map(({ pass }) => pass(STEP_SECONDS * 1000)))
    }
    return consoles.map(({ requests }) => requests)
  } finally {
    await browser.close()
  }
}

/** Opens a console whose clock stands still. */
async function openConsole(url: string, browser: Browser) {
  const page = await browser.newPage()
  await page.clock.install()
  const connected = page.waitForEvent('websocket')
  await page.goto(`${url}/#/market`)
  const socket = await connected
  await delay(LOADED_MS)
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  const requests: RecordedRequest[] = []
  let atMs = 0
  page.on('request', (made) => {
    const { pathname, search } = new URL(made.url())
    const { 'content-type': type } = made.headers()
    requests.push({
      atMs,
      method: made.method() as 'GET' | 'POST',
      path: pathname + search,
      headers: type === undefined ? {} : { 'content-type': type, 'connect-protocol-version': '1' },
      body: made.postDataBuffer(),
    })
  })
  return {
    requests,
    nextEvent: () => socket.waitForEvent('framereceived'),
    async pass(ms: number): Promise<void> {
      await page.clock.fastForward(ms)
      atMs += ms
    },
  }
}

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
