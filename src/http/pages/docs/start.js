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
/**
 * The first request is for a price, which names no user: that of the example, and of a chain and tokens of this instance where it lists
 * them. A copied address of a user would get the output of a real swap.
 */
const writeFirstRequest = async (example) => {
  const read = async (path) => (await fetch(path)).json()
  const { chainId } = (await read('v1/chains')).chains[0]
  const url = new URL(`v1/${chainId}/price`, location.href)
  const write = (swap) => {
    const command = `curl ${url} -H 'content-type: application/json' -d '${JSON.stringify(swap)}'`
    document.querySelector('.first-request code').textContent = command
  }
  write(example)
  const [sold, bought] = (await read(`v1/${chainId}/tokens`)).tokens
  const amount = String(10n ** BigInt(sold.decimals))
  write({ ...example, inputToken: sold.address, outputToken: bought.address, amount })
}
const WithSentences = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateSpec: (original) => (text) => {
          const document = JSON.parse(text)
          const { example } =
            document.paths['/v1/{chainId}/price'].post.requestBody.content['application/json']
          writeFirstRequest(example).catch(() => {})
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
  for (const text of document.querySelectorAll('pre.microlight')) text.tabIndex = 0
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
