import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What a client has got. */
export interface HonestAnswers {
  /** How many answers had each status, or failed with which error. */
  readonly statuses: Readonly<Record<string, number>>
  readonly slowestMs: number
}

/** A client that asks for one quote after the other, in a thread of its own: it does not wait for what a test does. */
export function startHonestClient(url: string, body: object) {
  const thread = new Worker(new URL('./background-quotes.mjs', import.meta.url), {
    workerData: { url, body: JSON.stringify(body) },
  })

  return {
    async stop(): Promise<HonestAnswers> {
      const answers = once(thread, 'message')
      thread.postMessage('stop')
      const [all] = await answers
      return all
    },
    terminate: () => thread.terminate(),
  }
}
