import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { AggregatorError, explainForUser } from '../../client/src/index.js'
import { wordsOf } from '../../protocol/src/node/node-words.js'
import { replaceUnprintable } from '../../protocol/src/values/text.js'
import texts from './texts.json' with { type: 'json' }

/** Why a tool gives nothing, for the agent. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly facts: object

  constructor(code: string, message: string, facts: object = {}) {
    super(message)
    this.facts = { code, ...facts }
  }
}

/**
 * Adds a tool that reads: what it takes, what it gives by name, and how. What it is for stands in texts.json. What fails is a result
 * with a code and a sentence, never an error of the protocol.
 */
export function addTool<Input extends z.ZodRawShape>(
  server: McpServer,
  name: keyof typeof texts.tools,
  tool: {
    readonly input: Input
    readonly output: z.ZodRawShape
    readonly run: (input: z.output<z.ZodObject<Input>>, signal: AbortSignal) => Promise<object>
  },
): void {
  const config = {
    description: texts.tools[name],
    inputSchema: z.strictObject(tool.input),
    outputSchema: z.looseObject(tool.output),
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
  }
  server.registerTool(name, config, async (given, { mcpReq }): Promise<CallToolResult> => {
    try {
      return toResult(await tool.run(given as z.output<z.ZodObject<Input>>, mcpReq.signal))
    } catch (error) {
      return { ...toResult(explain(error)), isError: true }
    }
  })
}

/** The same as JSON and as text. */
function toResult(value: object): CallToolResult {
  const text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? item.toString() : item))
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
}

function explain(error: unknown): object {
  if (error instanceof ToolError) return { ...error.facts, message: error.message }
  if (error instanceof AggregatorError) {
    const { reason: code, retryAfterSeconds, quoteId } = error
    return {
      code,
      message: explainForUser(error),
      retryAfterSeconds,
      quoteId: printable(quoteId),
      // What the instance says could pass for words of the owner.
      instanceSays: printable(error.message, 200),
    }
  }
  // What viem throws names the URL of the node, which may have a key.
  return { code: 'NODE_FAILED', message: wordsOf(error) }
}

/** A text of a stranger: as short as a name, and without characters that hide or reorder others. */
export function printable(text: string | undefined, length = 64): string | undefined {
  return text && replaceUnprintable(text.slice(0, length))
}
