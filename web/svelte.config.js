export default {
  compilerOptions: {
    runes: true,
    // A short class name for the styles of a component. It follows from them, so that the build is the same in every folder.
    cssHash: ({ hash, css }) => `s${hash(css).slice(0, 4)}`,
  },
};
