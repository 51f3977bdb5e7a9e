import type { QuoteStreamMessage, QuoteStreamParams } from '@quote-aggregator/client'
import { askedOffers } from '../asked-offer.js'
import type { Instance } from '../called-instance.js'
import type { GuardedIo } from '../io.js'
import type { FormatAmount } from '../output/amounts.js'
import { canErase, createLiveText } from '../output/live-text.js'
import { createDisplay } from '../output/print-result.js'
import { renderMessage, toLine } from '../output/quote-stream-view.js'

const SECOND_MS = 1000

/** `quote --watch`: shows each better offer as it comes, on a line; on a terminal in the place of the one before it. */
export async function watchQuotes(
  io: GuardedIo,
  instance: Instance,
  params: QuoteStreamParams,
  json: boolean | undefined,
): Promise<void> {
  const { chainId, destinationChainId = chainId } = params
  const formatted = () => instance.amounts.format(chainId, destinationChainId)
  if (!json && canErase(io.stdout, io.environment())) await showLive(io, instance, params, await formatted())
  else
    await instance.printEach(
      (client, calling) => askedOffers(params, client.streamQuotes(params, calling)),
      async (message) => toLine(message, chainId, await formatted()),
    )
  instance.assertNotInterrupted()
}

/** The last message, with the time that is left. */
async function showLive(
  io: GuardedIo,
  { call, commandLine }: Instance,
  params: QuoteStreamParams,
  format: FormatAmount,
): Promise<void> {
  const text = createLiveText(io.stdout)
  let shown: QuoteStreamMessage | undefined
  const draw = () => {
    if (shown === undefined) return
    text.replace(renderMessage(shown, params, format, commandLine, createDisplay(io)))
  }
  const timer = setInterval(draw, SECOND_MS)
  try {
    await call(async (client, calling) => {
      for await (shown of askedOffers(params, client.streamQuotes(params, calling))) draw()
    })
  } finally {
    clearInterval(timer)
    text.end()
  }
}
