import { once } from 'node:events'
import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { listen } from '../../../test/support/listen.js'
import { BUILT } from '../../../test/support/process/built.js'

export const LINES = ['client 2', 'sdk 1'] as const

/** What a tool gave. */
export interface ToolAnswer {
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  readonly value: any
}

export type McpSession = Awaited<ReturnType<typeof startSession>>

/** An agent's session with the server as a process: a client of one of the two lines of the SDK. */
export async function startSession(line: (typeof LINES)[number], args: readonly string[]) {
  const params = {
    command: process.execPath,
    args: [`${BUILT}/cli.js`, 'mcp', ...args],
    stderr: 'pipe' as const,
  }
  const info = { name: 'test', version: '1' }
  const client = line === 'sdk 1' ? new OldClient(info) : new Client(info)
  const transport = line === 'sdk 1' ? new OldTransport(params) : new StdioClientTransport(params)
  await client.connect(transport as never)
  return {
    client: client as Client,
    async call(name: string, input: object = {}): Promise<ToolAnswer> {
      const {
        isError = false,
        structuredContent,
        content,
      } = await (client as Client).callTool({
        name,
        arguments: input as Record<string, unknown>,
      })
      const texts = content.map((part) => (part.type === 'text' ? part.text : part.type))
      return { isError, value: structuredContent ?? texts.join() }
    },
    close: () => client.close(),
  }
}

/** A relay of HTTP that tells what passes, and may change it. */
export async function startRelay(target: string) {
  const seen: { readonly line: string; readonly body: string }[] = []
  const relay = {
    seen,
    url: '',
    /** Changes the JSON of an answer. */
    // biome-ignore lint/suspicious/noExplicitAny: tests change any answer
    change: (_path: string, answer: any): unknown => answer,
    /** Answers each request in place of the target. */
    refusal: undefined as { readonly status: number; readonly body: object } | undefined,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { method = '', url = '' } = request
    seen.push({ line: `${method} ${url}`, body })
    const headers = { 'content-type': 'application/json' }
    if (relay.refusal) {
      const { status, body: refused } = relay.refusal
      response.writeHead(status, { ...headers, 'retry-after': '7' }).end(JSON.stringify(refused))
      return
    }
    const answer = await fetch(target.replace(/\/$/, '') + (url === '/' ? '' : url), {
      method,
      headers,
      ...(body === '' ? {} : { body }),
    })
    const changed = relay.change(url, await answer.json())
    response.writeHead(answer.status, headers).end(JSON.stringify(changed))
  })
  return Object.assign(relay, await listen(server))
}
