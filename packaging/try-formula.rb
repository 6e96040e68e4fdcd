# usage: try-formula.rb pz.rb PREFIX
#
# Installs a release below the new directory PREFIX as its Homebrew formula says, and runs the test of
# the formula. The archives lie beside the formula. The classes below stand for those of Homebrew, as
# far as the formula uses them.
require "digest"
require "fileutils"
require "open3"
require "pathname"
require "tmpdir"

formula, prefix = ARGV
RELEASE = Pathname(formula).realpath.dirname
PREFIX = Pathname(prefix).expand_path

class Pathname
  def install(*sources)
    each_named(sources) { |source, name| FileUtils.mv(source, self / name) }
  end

  def install_symlink(*sources)
    each_named(sources) do |source, name|
      target = self / source
      raise "#{target} does not exist" unless target.exist?
      FileUtils.ln_s(target.relative_path_from(self), self / name)
    end
  end

  private

  def each_named(sources)
    mkpath
    sources.each do |source|
      pairs = source.is_a?(Hash) ? source : { source => File.basename(source) }
      pairs.each { |from, name| yield from, name }
    end
  end
end

class Formula
  ARCH = RUBY_PLATFORM.start_with?("x86_64") ? :intel : :arm
  OS = RUBY_PLATFORM.include?("darwin") ? :macos : :linux

  class << self
    attr_reader :chosen # archive for this machine
    attr_reader :test_block

    def field(_text) = nil
    alias desc field
    alias homepage field
    alias version field
    alias license field

    def on_macos = system(:macos) { yield }
    def on_linux = system(:linux) { yield }
    def on_intel = arch(:intel) { yield }
    def on_arm = arch(:arm) { yield }

    def url(text)
      @archive = RELEASE / File.basename(text)
      @chosen = @archive if @system == OS && @arch == ARCH
    end

    def sha256(digest)
      raise "#{@archive}: another digest" unless Digest::SHA256.file(@archive).hexdigest == digest
    end

    def test(&block) = @test_block = block

    private

    def system(name)
      @system = name
      yield
    end

    def arch(name)
      @arch = name
      yield
    end
  end

  def bin = PREFIX / "bin"
  def man1 = PREFIX / "share/man/man1"
  def bash_completion = PREFIX / "etc/bash_completion.d"
  def zsh_completion = PREFIX / "share/zsh/site-functions"
  def fish_completion = PREFIX / "share/fish/vendor_completions.d"

  def pipe_output(command, input, status)
    output, result = Open3.capture2(command, stdin_data: input)
    assert_equal status, result.exitstatus
    output
  end

  def assert_equal(want, got)
    raise "#{got.inspect}, want #{want.inspect}" unless want == got
  end
end

load formula
pz = Pz.new
Dir.mktmpdir do |dir|
  Kernel.system("tar", "-xzf", Pz.chosen.to_s, "-C", dir, exception: true)
  Dir.chdir(Dir["#{dir}/*"].first) { pz.install }
end
pz.instance_eval(&Pz.test_block)
puts "the formula installs #{Dir["#{PREFIX}/**/*"].count { |name| File.file?(name) }} files and its test passes"
