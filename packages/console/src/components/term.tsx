/** A word with the link to its meaning. It opens beside the page, which may have a swap under way. @param name as the help page has it */
export const Term = ({ name }: { readonly name: string }) => (
  <a class="term" href={`help#${name.toLowerCase().replaceAll(' ', '-')}`} target="_blank" rel="noopener">
    {name}
  </a>
)
