import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** The results of a client. */
export interface HonestAnswers {
  /** The number of responses by status or error. */
  readonly statuses: Readonly<Record<string, number>>
  readonly slowestMs: number
}

/**
 * A client that requests one quote after the other in a thread of its own, so that a busy test does not delay
 * it.
 */
export function startHonestClient(url: string, body: object, headers: Record<string, string> = {}) {
  const thread = new Worker(new URL('./background-quotes.mjs', import.meta.url), {
    workerData: { url, body: JSON.stringify(body), headers },
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
