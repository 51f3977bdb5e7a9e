import type { QuoteStreamMessage, QuoteStreamParams } from '@quote-aggregator/client'
import { EXIT } from '../exit-codes.js'
import { CommandFailure } from '../failure.js'
import { callInstance, commandLine, type InstanceFlags } from '../instance.js'
import type { GuardedIo } from '../io.js'
import type { FormatAmount } from '../listed-tokens.js'
import { canErase, createLiveText } from '../live-text.js'
import { createDisplay } from '../print-result.js'
import { toJson } from '../printable.js'
import { renderMessage, toLine } from '../quote-stream-view.js'

const SECOND_MS = 1000

/** Shows messages until it is closed. */
interface View {
  show(message: QuoteStreamMessage): void
  close(): void
}

/** `quote --watch`: shows each better offer as it comes. */
export async function watchQuotes(
  io: GuardedIo,
  options: InstanceFlags,
  params: QuoteStreamParams,
  format: FormatAmount,
): Promise<void> {
  const signal = io.interruption()
  const isLive = !options.json && canErase(io.stdout, io.environment())
  const view = isLive ? await createLiveView(io, options, format) : createLineView(io, options, format)
  try {
    await callInstance(io, options, async (client) => {
      for await (const message of client.streamQuotes(params, { signal })) view.show(message)
    })
  } finally {
    view.close()
  }
  if (signal.aborted) throw new CommandFailure(EXIT.interrupted)
}

/** A line for each message. */
function createLineView(io: GuardedIo, { json }: InstanceFlags, format: FormatAmount): View {
  return {
    show: (message) => io.stdout.write(`${json ? toJson(message) : toLine(message, Date.now(), format)}\n`),
    close() {},
  }
}

/** The last message, in the place of the one before it, with the time that is left. */
async function createLiveView(io: GuardedIo, options: InstanceFlags, format: FormatAmount): Promise<View> {
  const display = await createDisplay(io)
  const text = createLiveText(io.stdout)
  let shown: QuoteStreamMessage | undefined
  const draw = () => {
    if (shown === undefined) return
    const line = (command: string) => commandLine(io, options, command)
    text.replace(renderMessage(shown, Date.now(), format, line, display))
  }
  const timer = setInterval(draw, SECOND_MS)
  return {
    show(message) {
      shown = message
      draw()
    },
    close() {
      clearInterval(timer)
      text.end()
    },
  }
}
