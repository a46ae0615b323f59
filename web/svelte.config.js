export default {
  compilerOptions: {
    runes: true,
    // Templates as functions instead of HTML are smaller after compression, and need no trusted type.
    fragments: "tree",
    // A short class name for the styles of a component. It follows from them, so that the build is the same in every folder.
    cssHash: ({ hash, css }) => `s${hash(css).slice(0, 4)}`,
  },
};
