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
  plugins: [WithoutStreams, WithoutNestedLinks],
})
