import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescMessage,
  DescMethod,
  DescService,
} from '@bufbuild/protobuf'

/** What has a comment in the protos. */
export type Described = DescMessage | DescField | DescEnum | DescEnumValue | DescService | DescMethod

/** `package.Message`, `package.Message.field` and so on; an enum's values have its name before theirs. */
export function fullName(descriptor: Described): string {
  return 'typeName' in descriptor ? descriptor.typeName : `${descriptor.parent.typeName}.${descriptor.name}`
}
