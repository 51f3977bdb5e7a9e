const isStream = (system, path, method) =>
  system.specSelectors.specJson().getIn(['paths', path, method, 'x-stream']) === true
const WithoutStreams = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        allowTryItOutFor: (original, system) => (state, path, method) =>
          !isStream(system, path, method) && original(state, path, method),
      },
    },
  },
})
// A link inside of a button is nothing for a keyboard. The button itself writes the address of its operation.
const WithoutNestedLinks = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement('span', null, text) },
})
/** A row says what its method does, and not its name again: `GetQuote asks the solvers. …` is `Asks the solvers`. */
const inAFewWords = ({ summary, description = '' }) => {
  const [name] = /^\w+[a-z][A-Z]\w+/.exec(summary) ?? ['-']
  const [sentence] = description.replace(new RegExp(`^${name} `), '').split(/[.:](?=\s|$)/)
  return sentence ? sentence[0].toUpperCase() + sentence.slice(1) : summary
}
/** A request as it is typed, with a line for each field. */
const asCurl = (url, body, option = '') =>
  body
    ? `curl ${option}${url} \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body, null, 2)}'`
    : `curl ${url}`
const STEPS = document.querySelectorAll('.steps li')
/** Writes a command into a step, where it can be copied. */
const writeCommand = (step, command) => {
  const copy = step.querySelector('.copy')
  step.querySelector('pre code').textContent = command
  copy.onclick = async () => {
    await navigator.clipboard.writeText(command)
    copy.textContent = 'Copied'
  }
}
/** Writes a request into a step. Its button sends it, and shows the answer below the request. */
const writeStep = (step, url, body) => {
  const code = step.querySelector('pre code')
  const button = step.querySelector('button:not(.copy)')
  const show = (answer) => {
    code.textContent = `${asCurl(url, body)}\n\n${JSON.stringify(answer, null, 2)}`
  }
  writeCommand(step, asCurl(url, body))
  const headers = { 'content-type': 'application/json' }
  button.onclick = async () => {
    const answer = await fetch(url, body && { method: 'POST', headers, body: JSON.stringify(body) })
    show(await answer.json())
  }
}
/**
 * The quick start has the host of the page, a chain and tokens of this instance where it lists them, and a price, which names no user: a
 * copied address of a user would get the output of a real swap.
 */
const writeSteps = async (example) => {
  const read = async (path) => (await fetch(path)).json()
  const at = (path) => new URL(path, location.href)
  const write = (chainId, swap) => {
    writeStep(STEPS[1], at(`v1/${chainId}/price`), swap)
    const chains = { originChainId: Number(chainId), destinationChainId: Number(chainId) }
    const offer = { ...swap, ...chains, userAddress: '0x…', depositMode: 'CONTRACT', includeCalls: true }
    writeCommand(STEPS[2], `${asCurl(at(`v1/${chainId}/quote`), offer, '--fail ')} > offer.json`)
    const check = `curl --fail -d @- \\\n  -H 'content-type: application/json' \\\n  ${at(`v1/${chainId}/offers/check`)}`
    writeCommand(
      STEPS[3],
      `rm -f checked.json\nat=$(curl ${at('v1/chains')} |\n  jq -r '.chains[]\n    | select(.chainId == ${chainId})\n    | .settlement')\necho $at\njq '{quote, solverSignature}' offer.json |\n${check} |\njq -e '.state == "VALID"' &&\njq -e --arg at $at '.calls as [$approve, $deposit]\n  | $approve.to == .quote.inputToken and\n    $approve.data[34:74] == ($at[2:] | ascii_downcase) and\n    $deposit.to == $at and\n    (.solverSignature[2:] as $signature |\n      $deposit.data | contains($signature))' offer.json &&\nmv offer.json checked.json`,
    )
    writeCommand(
      STEPS[4],
      `jq -r '.calls[] | "\\(.to) \\(.data)"' \\\n  checked.json |\nwhile read -r to data; do\n  cast send $to $data \\\n    --rpc-url $RPC --account user || break\ndone`,
    )
    writeCommand(STEPS[5], `id=$(jq -r .orderId checked.json)\ncurl ${at(`v1/${chainId}/order/`)}$id`)
  }
  const known = await read('v1/chains')
  writeStep(STEPS[0], at('v1/chains'))
  const { chainId } = known.chains[0]
  write(chainId, example)
  const { tokens } = await read(`v1/${chainId}/tokens`)
  const { pairs } = await read(`v1/${chainId}/pairs`)
  // A price comes for a pair that solvers trade: the one with most orders, of listed tokens if there is one.
  const [pair] = pairs
    .filter(({ destinationChainId }) => destinationChainId === Number(chainId))
    .toSorted((a, b) => b.listed - a.listed || b.orders24h - a.orders24h)
  const { inputToken = tokens[0].address, outputToken = tokens[1].address } = pair ?? {}
  const { decimals } = tokens.find(({ address }) => address === inputToken)
  write(chainId, { ...example, inputToken, outputToken, amount: String(10n ** BigInt(decimals)) })
}
const WithSentences = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateSpec: (original) => (text) => {
          const document = JSON.parse(text)
          const { example } =
            document.paths['/v1/{chainId}/price'].post.requestBody.content['application/json']
          writeSteps(example).catch(() => {})
          for (const methods of Object.values({ ...document.paths, ...document.webhooks }))
            for (const method of Object.values(methods)) method.summary = inAFewWords(method)
          return original(JSON.stringify(document))
        },
      },
    },
  },
})
const label = () => {
  for (const select of document.querySelectorAll('.examples-select-element')) select.ariaLabel = 'Example'
  for (const text of document.querySelectorAll('pre.microlight, .steps pre')) text.tabIndex = 0
}
new MutationObserver(label).observe(document.body, { childList: true, subtree: true })
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  plugins: [WithoutStreams, WithoutNestedLinks, WithSentences],
})
