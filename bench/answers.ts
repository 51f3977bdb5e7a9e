import type { PlainAnswer } from './plain-server.js'

const WRITTEN_BY_NODE = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/** The response of a server at a path, for another server to repeat. */
export async function recordAnswer(url: string): Promise<PlainAnswer> {
  const response = await fetch(url)
  const headers = [...response.headers].filter(([name]) => !WRITTEN_BY_NODE.includes(name))
  return { headers: Object.fromEntries(headers), text: await response.text() }
}
