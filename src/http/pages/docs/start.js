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
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  plugins: [WithoutStreams],
})
